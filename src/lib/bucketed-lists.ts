/** What a member of a list carries. Only `RankedLists` writes these fields. */
export interface Ranked<T> {
  rank: number;
  previous: T | undefined;
  next: T | undefined;
}

/** The rank of what is in no list. */
export const UNRANKED = -1;

/**
 * Members in order of rank, and within a rank in the order in which they came there. Every change takes constant time:
 * a `Map` or `Set` of a hundred thousand members walks over the gaps that deleting from its front leaves behind.
 */
export interface RankedLists<T> {
  /** Puts the member at the end of a rank, 0 or more, taking it out of the one where it was. */
  place(member: T, rank: number): void;
  remove(member: T): void;
  /** The one that has been in this rank for longest. */
  first(rank: number): T | undefined;
  /** The one that has been in the lowest rank for longest; looks at every rank that is in use. */
  lowest(): T | undefined;
}

interface List<T> {
  first: T;
  last: T;
}

export function createRankedLists<T extends Ranked<T>>(): RankedLists<T> {
  const lists = new Map<number, List<T>>();

  function remove(member: T): void {
    const list = lists.get(member.rank);
    if (list === undefined) return;
    const { previous, next } = member;
    if (previous !== undefined) previous.next = next;
    if (next !== undefined) next.previous = previous;
    if (previous === undefined && next === undefined) lists.delete(member.rank);
    else if (previous === undefined) list.first = next as T;
    else if (next === undefined) list.last = previous;
    member.rank = UNRANKED;
    member.previous = undefined;
    member.next = undefined;
  }

  return {
    place(member, rank) {
      remove(member);
      member.rank = rank;
      const list = lists.get(rank);
      if (list === undefined) {
        lists.set(rank, { first: member, last: member });
        return;
      }
      member.previous = list.last;
      list.last.next = member;
      list.last = member;
    },
    remove,
    first: (rank) => lists.get(rank)?.first,
    lowest() {
      let lowestRank = Number.POSITIVE_INFINITY;
      for (const rank of lists.keys()) lowestRank = Math.min(lowestRank, rank);
      return lists.get(lowestRank)?.first;
    },
  };
}
