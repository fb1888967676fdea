/** How often a property is tried: an eighth of the runs in CI is enough on a contributor's machine. */
export const runsOf = (runsInCi: number): number => (process.env.CI ? runsInCi : Math.ceil(runsInCi / 8));
