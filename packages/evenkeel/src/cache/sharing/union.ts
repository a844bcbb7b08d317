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

export class Union {
  #kind: CacheKind
  #form: string
  #isSettled = false

  constructor(kind: CacheKind) {
    this.#kind = kind
    this.#form = formId(kind)
  }

  /** The kind in the form that is enough for everybody so far. */
  get kind(): CacheKind {
    return this.#kind
  }

  /** The form as a text. */
  get form(): string {
    return this.#form
  }

  /** Whether there is room for one who wants the kind in this form. */
  admits(kind: CacheKind): boolean {
    return !this.#isSettled || covers(this.#kind, kind)
  }

  /** For one who was admitted. */
  add(kind: CacheKind): void {
    if (covers(this.#kind, kind)) return
    this.#kind = join(this.#kind, kind)
    this.#form = formId(this.#kind)
  }

  /** The watch begins. */
  settle(): void {
    this.#isSettled = true
  }
}

/** A form as a text: the same kind picked by other paths is another. */
export function formId(kind: CacheKind): string {
  return isPickedKind(kind) ? `pick ${kind.paths.join(',')}` : isMetadata(kind) ? 'metadata' : 'whole'
}

/** The fields that are kept beside type and metadata; undefined: all. */
export function pathsOf(kind: CacheKind): readonly string[] | undefined {
  return isPickedKind(kind) ? kind.paths : isMetadata(kind) ? [] : undefined
}

function covers(wide: CacheKind, narrow: CacheKind): boolean {
  const [has, wants] = [pathsOf(wide), pathsOf(narrow)]
  if (has === undefined || wants === undefined) return has === undefined
  return (
    (!isMetadata(wide) || isMetadata(narrow)) &&
    wants.every((path) => has.some((each) => path === each || path.startsWith(`${each}.`)))
  )
}

function join(a: CacheKind, b: CacheKind): CacheKind {
  const whole = [a, b].find((kind) => pathsOf(kind) === undefined)
  if (whole) return whole
  const picked = [a, b].find(isPickedKind)
  if (!picked) return a
  return { ...picked, paths: [...new Set([...(pathsOf(a) ?? []), ...(pathsOf(b) ?? [])])].sort() }
}

function isMetadata(kind: CacheKind): boolean {
  return 'metadataOnly' in kind
}
