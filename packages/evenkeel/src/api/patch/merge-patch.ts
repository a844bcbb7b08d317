/**
 * JSON merge patch (RFC 7396): objects are merged, `null` deletes, everything else replaces.
 *
 * Invariants: nothing given is written to; what the patch does not touch is shared with the result; both directions
 * walk with a stack of their own, so depth costs memory only. A merge patch cannot set a value to `null`.
 */
import {
  deepEqual,
  getOwn,
  isJsonObject,
  setOwn,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
} from '@evenkeel/cel/primitives'

/** Applies the patch and returns the new document. */
export function applyMergePatch(document: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isJsonObject(patch)) return patch
  const result = draftOf(document)
  const work = [{ into: result, patch }]
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    for (const [key, change] of Object.entries(next.patch)) {
      if (change === undefined) continue
      if (change === null) delete next.into[key]
      else if (!isJsonObject(change)) setOwn(next.into, key, change)
      else {
        const child = draftOf(getOwn(next.into, key))
        setOwn(next.into, key, child)
        work.push({ into: child, patch: change })
      }
    }
  }
  return result
}

/**
 * The smallest patch that turns one document into the other.
 *
 * It works if `to` has no `null` inside its objects: a merge patch cannot express that, and such a key is deleted.
 */
export function createMergePatch(from: JsonValue, to: JsonValue): JsonValue {
  if (!isJsonObject(from) || !isJsonObject(to)) return to
  const result: JsonObjectDraft = {}
  const made: { readonly parent: JsonObjectDraft; readonly key: string; readonly patch: JsonObjectDraft }[] = []
  const work: Difference[] = [{ from, to, patch: result }]
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    for (const key of changedKeys(next)) {
      const [before, after] = [getOwn(next.from, key), getOwn(next.to, key)]
      if (isJsonObject(before) && isJsonObject(after)) {
        const patch: JsonObjectDraft = {}
        setOwn(next.patch, key, patch)
        made.push({ parent: next.patch, key, patch })
        work.push({ from: before, to: after, patch })
      } else setOwn(next.patch, key, after ?? null)
    }
  }
  dropEmpty(made)
  return result
}

interface Difference {
  readonly from: JsonObject
  readonly to: JsonObject
  readonly patch: JsonObjectDraft
}

function draftOf(value: JsonValue | undefined): JsonObjectDraft {
  return isJsonObject(value) ? { ...value } : {}
}

/** Keys that are removed, added or changed; pairs of objects always, because they are compared later. */
function changedKeys({ from, to }: Difference): string[] {
  const gone = Object.keys(from).filter((key) => from[key] !== undefined && getOwn(to, key) === undefined)
  const differing = Object.keys(to).filter((key) => {
    const [before, after] = [getOwn(from, key), to[key]]
    return (
      after !== undefined &&
      (isJsonObject(before) && isJsonObject(after) ? before !== after : !deepEqual(before, after))
    )
  })
  return [...gone, ...differing]
}

// Children were made after their parents, so going backwards meets every empty child before its parent.
function dropEmpty(
  made: readonly { readonly parent: JsonObjectDraft; readonly key: string; readonly patch: JsonObjectDraft }[],
): void {
  for (const { parent, key, patch } of made.toReversed()) if (Object.keys(patch).length === 0) delete parent[key]
}
