/** The `BroadcastChannel` on which a reader says that it is about to hang. */
export const HANGING_CHANNEL = 'a reader hangs';
