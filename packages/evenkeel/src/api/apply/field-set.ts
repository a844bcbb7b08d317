/**
 * A set of paths, stored as a trie: the fields that a manager owns, or the fields that a write changed.
 *
 * A node is a member, has children, or both. A node that is neither does not exist, so an empty set has no nodes. Only
 * the code that creates a set calls `insert`; afterwards the set does not change. Operations share subtrees and return
 * the same set when nothing changed, which callers test with `===`.
 */
import type { JsonObject } from '@evenkeel/cel/primitives'
import { compareElements, type ElementPath, type PathElement } from './path-element.ts'

export interface FieldNode {
  readonly member: boolean
  readonly children: FieldSet | undefined
}

/** A member with nothing below it. */
export const leaf: FieldNode = { member: true, children: undefined }

export class FieldSet {
  #nodes = new Map<PathElement, FieldNode>()
  /** The encoded set, below a member and elsewhere. The encoder caches it here, as sets share subtrees. */
  written: { readonly plain?: JsonObject; readonly member?: JsonObject } | undefined = undefined

  static of(...paths: readonly ElementPath[]): FieldSet {
    const set = new FieldSet()
    for (const path of paths) set.insert(path)
    return set
  }

  static fromNodes(nodes: Iterable<readonly [PathElement, FieldNode]>): FieldSet {
    const set = new FieldSet()
    for (const [element, node] of nodes) set.#put(element, node)
    return set
  }

  /** Takes ownership of a map: every node is a member or has children, and the map no longer changes. */
  static ofMap(nodes: Map<PathElement, FieldNode>): FieldSet {
    const set = new FieldSet()
    set.#nodes = nodes
    return set
  }

  get isEmpty(): boolean {
    return this.#nodes.size === 0
  }

  /** The number of path elements at this level. */
  get width(): number {
    return this.#nodes.size
  }

  /** The number of members. */
  get size(): number {
    let size = 0
    for (const { member, children } of this.#nodes.values()) size += Number(member) + (children?.size ?? 0)
    return size
  }

  /** The nodes of this level, in no particular order. */
  nodes(): IterableIterator<[PathElement, FieldNode]> {
    return this.#nodes.entries()
  }

  /** The path elements of this level, in the order of their encoding. */
  elements(): PathElement[] {
    const elements = [...this.#nodes.keys()]
    return elements.length < 2 ? elements : elements.sort(compareElements)
  }

  /** Every member, in order: those of a level come before what lies deeper. */
  *paths(prefix: ElementPath = []): Generator<ElementPath> {
    const elements = this.elements()
    for (const element of elements) if (this.#nodes.get(element)?.member === true) yield [...prefix, element]
    for (const element of elements) yield* this.#nodes.get(element)?.children?.paths([...prefix, element]) ?? []
  }

  /** Adds a path during construction. The empty path is ignored: the object as a whole has no owner. */
  insert(path: ElementPath): void {
    if (path.length === 0) return
    let set: FieldSet = this
    for (let index = 0; index < path.length - 1; index++) set = set.#descend(path[index] as PathElement)
    const last = path.at(-1) as PathElement
    const node = set.#nodes.get(last)
    if (node?.member !== true) set.#nodes.set(last, node?.children ? { member: true, children: node.children } : leaf)
  }

  has(path: ElementPath): boolean {
    let set: FieldSet | undefined = this
    for (let index = 0; index < path.length - 1; index++) set = set?.node(path[index] as PathElement)?.children
    return path.length > 0 && set?.node(path.at(-1) as PathElement)?.member === true
  }

  /** The node of one path element. */
  node(element: PathElement): FieldNode | undefined {
    return this.#nodes.get(element)
  }

  equals(other: FieldSet): boolean {
    if (this === other) return true
    if (this.#nodes.size !== other.#nodes.size) return false
    for (const [element, node] of this.#nodes) {
      const twin = other.#nodes.get(element)
      if (twin?.member !== node.member || (twin.children === undefined) !== (node.children === undefined)) return false
      if (node.children && twin.children && !node.children.equals(twin.children)) return false
    }
    return true
  }

  union(other: FieldSet): FieldSet {
    if (this === other || other.isEmpty) return this
    if (this.isEmpty) return other
    let changed = false
    const result = new FieldSet()
    for (const [element, node] of this.#nodes) result.#nodes.set(element, node)
    for (const [element, theirs] of other.#nodes) {
      const ours = this.#nodes.get(element)
      const children =
        ours?.children && theirs.children ? ours.children.union(theirs.children) : (ours?.children ?? theirs.children)
      const member = ours?.member === true || theirs.member
      if (ours?.member === member && ours.children === children) continue
      changed = true
      result.#nodes.set(element, ours === undefined ? theirs : { member, children })
    }
    return changed ? result : this
  }

  intersection(other: FieldSet): FieldSet {
    const result = new FieldSet()
    // From the smaller side: a write changes few fields, a manager owns many.
    const [few, many] = this.#nodes.size <= other.#nodes.size ? [this, other] : [other, this]
    for (const [element, a] of few.#nodes) {
      const b = many.#nodes.get(element)
      if (!b) continue
      const children = a.children && b.children ? a.children.intersection(b.children) : undefined
      result.#put(element, { member: a.member && b.member, children })
    }
    return result
  }

  /** Without the members of the other set; what lies below a member of it stays. */
  difference(other: FieldSet): FieldSet {
    return this.#without(other, (ours, theirs) => ({
      member: ours.member && !theirs.member,
      children: ours.children && theirs.children ? ours.children.difference(theirs.children) : ours.children,
    }))
  }

  /** Without the members of the other set and everything below them. */
  recursiveDifference(other: FieldSet): FieldSet {
    return this.#without(other, (ours, theirs) => {
      if (theirs.member) return { member: false, children: undefined }
      return {
        member: ours.member,
        children: ours.children && theirs.children ? ours.children.recursiveDifference(theirs.children) : ours.children,
      }
    })
  }

  /** Only the members that have nothing below them. */
  leaves(): FieldSet {
    const result = new FieldSet()
    for (const [element, { member, children }] of this.#nodes) {
      result.#put(element, { member: member && children === undefined, children: children?.leaves() })
    }
    return result
  }

  #without(other: FieldSet, rest: (ours: FieldNode, theirs: FieldNode) => FieldNode): FieldSet {
    if (other.isEmpty || this.isEmpty) return this
    let changed = false
    const result = new FieldSet()
    for (const [element, ours] of this.#nodes) {
      const theirs = other.#nodes.get(element)
      const left = theirs ? rest(ours, theirs) : ours
      const same = left.member === ours.member && left.children === ours.children
      changed ||= !same
      result.#put(element, same ? ours : left)
    }
    return changed ? result : this
  }

  /** Adds no node that is neither a member nor has children. */
  #put(element: PathElement, node: FieldNode): void {
    if (node.children?.isEmpty !== true) {
      if (node.member || node.children) this.#nodes.set(element, node)
    } else if (node.member) this.#nodes.set(element, leaf)
  }

  #descend(element: PathElement): FieldSet {
    const node = this.#nodes.get(element)
    if (node?.children) return node.children
    const children = new FieldSet()
    this.#nodes.set(element, { member: node?.member ?? false, children })
    return children
  }
}

/** The empty set. */
export const noFields = new FieldSet()
