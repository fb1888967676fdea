/** The fields of a member. Only `BucketedLists` writes them. */
export interface BucketMember<T> {
  bucket: number;
  previous: T | undefined;
  next: T | undefined;
}

/** The bucket of an object that is in no list. */
export const NO_BUCKET = -1;

/**
 * Lists by bucket number, each in insertion order. Every change takes constant time. A large `Map` or `Set` does not: it
 * walks over the gaps that deletions from its front leave behind.
 */
export interface BucketedLists<T> {
  /** Moves the member to the end of a bucket, 0 or more. */
  place(member: T, bucket: number): void;
  remove(member: T): void;
  /** The member that was placed in this bucket first. */
  first(bucket: number): T | undefined;
  /** The first member of the lowest bucket. Visits every bucket in use. */
  lowest(): T | undefined;
}

interface List<T> {
  first: T;
  last: T;
}

export function createBucketedLists<T extends BucketMember<T>>(): BucketedLists<T> {
  const lists = new Map<number, List<T>>();

  function remove(member: T): void {
    const list = lists.get(member.bucket);
    if (list === undefined) return;
    const { previous, next } = member;
    if (previous !== undefined) previous.next = next;
    if (next !== undefined) next.previous = previous;
    if (previous === undefined && next === undefined) lists.delete(member.bucket);
    else if (previous === undefined) list.first = next as T;
    else if (next === undefined) list.last = previous;
    member.bucket = NO_BUCKET;
    member.previous = undefined;
    member.next = undefined;
  }

  return {
    place(member, bucket) {
      remove(member);
      member.bucket = bucket;
      const list = lists.get(bucket);
      if (list === undefined) {
        lists.set(bucket, { first: member, last: member });
        return;
      }
      member.previous = list.last;
      list.last.next = member;
      list.last = member;
    },
    remove,
    first: (bucket) => lists.get(bucket)?.first,
    lowest() {
      let lowestBucket = Number.POSITIVE_INFINITY;
      for (const bucket of lists.keys()) lowestBucket = Math.min(lowestBucket, bucket);
      return lists.get(lowestBucket)?.first;
    },
  };
}
