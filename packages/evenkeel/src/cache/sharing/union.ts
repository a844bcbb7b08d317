/**
 * One watch for several who want different parts of the same objects: it brings all that any of them wants.
 *
 *   whole                     ⊇ any
 *   picked spec.a, status     ⊇ picked status.phase ⊇ metadata
 *
 * It grows until the watch begins; then it is settled, and whoever wants more needs a watch of its own.
 */
import { isPickedKind } from '../storing/pick.ts'
import type { CacheKind } from '../storing/pick.ts'

export class ProjectionUnion {
  #kind: CacheKind
  #id: string
  #isFrozen = false

  constructor(kind: CacheKind) {
    this.#kind = kind
    this.#id = projectionId(kind)
  }

  /** The kind in the form that is enough for everybody so far. */
  get kind(): CacheKind {
    return this.#kind
  }

  /** The form as a text. */
  get id(): string {
    return this.#id
  }

  /** Whether there is room for one who wants the kind in this form. */
  accepts(kind: CacheKind): boolean {
    return !this.#isFrozen || coversProjection(this.#kind, kind)
  }

  /** For one who was admitted. */
  add(kind: CacheKind): void {
    if (coversProjection(this.#kind, kind)) return
    this.#kind = joinProjections(this.#kind, kind)
    this.#id = projectionId(this.#kind)
  }

  /** The watch begins. */
  freeze(): void {
    this.#isFrozen = true
  }
}

/** A form as a text: the same kind picked by other paths is another. */
export function projectionId(kind: CacheKind): string {
  return isPickedKind(kind) ? `pick ${kind.paths.join(',')}` : isMetadata(kind) ? 'metadata' : 'whole'
}

/** The fields that are kept beside type and metadata; undefined: all. */
export function projectedPaths(kind: CacheKind): readonly string[] | undefined {
  return isPickedKind(kind) ? kind.paths : isMetadata(kind) ? [] : undefined
}

function coversProjection(wide: CacheKind, narrow: CacheKind): boolean {
  const [has, wants] = [projectedPaths(wide), projectedPaths(narrow)]
  if (has === undefined || wants === undefined) return has === undefined
  return (
    (!isMetadata(wide) || isMetadata(narrow)) &&
    wants.every((path) => has.some((each) => path === each || path.startsWith(`${each}.`)))
  )
}

function joinProjections(a: CacheKind, b: CacheKind): CacheKind {
  const whole = [a, b].find((kind) => projectedPaths(kind) === undefined)
  if (whole) return whole
  const picked = [a, b].find(isPickedKind)
  if (!picked) return a
  return { ...picked, paths: [...new Set([...(projectedPaths(a) ?? []), ...(projectedPaths(b) ?? [])])].sort() }
}

function isMetadata(kind: CacheKind): boolean {
  return 'metadataOnly' in kind
}
