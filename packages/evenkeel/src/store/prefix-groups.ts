/**
 * Who watches which prefix: finds the watchers of a key without asking each of them.
 *
 * Invariants: a member is in a group at most once; no group is empty. A key is looked up once for
 * each length that a watched prefix has, not once for each prefix: a thousand watches of as many
 * namespaces cost one look.
 */

/** The watchers of one prefix. */
interface PrefixGroup<Member> {
  readonly prefix: string
  readonly members: Set<Member>
}

export class PrefixGroups<Member> {
  readonly #groups = new Map<string, PrefixGroup<Member>>()
  /** How many prefixes have each length. */
  readonly #counts = new Map<number, number>()
  /** The lengths, shortest first; undefined until somebody asks after one came or went. */
  #lengths: readonly number[] | undefined

  get isEmpty(): boolean {
    return this.#groups.size === 0
  }

  join(prefix: string, member: Member): void {
    const group = this.#groups.get(prefix)
    if (group) {
      group.members.add(member)
      return
    }
    this.#groups.set(prefix, { prefix, members: new Set([member]) })
    this.#count(prefix.length, 1)
  }

  leave(prefix: string, member: Member): void {
    const group = this.#groups.get(prefix)
    if (!group?.members.delete(member) || group.members.size > 0) return
    this.#groups.delete(prefix)
    this.#count(prefix.length, -1)
  }

  /** Every member of every group. */
  members(): Member[] {
    return [...this.#groups.values()].flatMap(({ members }) => [...members])
  }

  /** What each group has to hear of, in the order given; groups that nothing is for are left out. */
  sort<Item extends { readonly key: string }>(items: readonly Item[]): Map<PrefixGroup<Member>, Item[]> {
    const sorted = new Map<PrefixGroup<Member>, Item[]>()
    const lengths = (this.#lengths ??= [...this.#counts.keys()].sort((a, b) => a - b))
    for (const item of items) {
      for (const length of lengths) {
        if (length > item.key.length) break
        const group = this.#groups.get(item.key.slice(0, length))
        if (group) add(sorted, group, item)
      }
    }
    return sorted
  }

  #count(length: number, change: 1 | -1): void {
    const before = this.#counts.get(length) ?? 0
    const after = before + change
    if (after === 0) this.#counts.delete(length)
    else this.#counts.set(length, after)
    if (before === 0 || after === 0) this.#lengths = undefined
  }
}

function add<Group, Item>(sorted: Map<Group, Item[]>, group: Group, item: Item): void {
  const items = sorted.get(group)
  if (items) items.push(item)
  else sorted.set(group, [item])
}
