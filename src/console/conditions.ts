/** A reason for which the service should get no traffic, or gets it in a reduced state. */
export interface Condition {
  readonly name: string;
  readonly detail: string;
  /** True: answers would be wrong or none; false: the service works around it. */
  readonly isBlocking: boolean;
}
