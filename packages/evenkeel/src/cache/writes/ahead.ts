/**
 * What we wrote and the watch has not told yet.
 *
 *   nothing ──we write──▶ ahead ──the stream tells of it, or has passed it──▶ nothing
 *
 * While an object is ahead, readers see our version of it and the stream's version waits aside. A stream is in order, so
 * once it has passed our version without a word about the object, somebody took the object away in between: then what
 * the stream said last is true again. Deletes have no version of their own and wait for the word.
 */
import type { KubeObject } from '#api'
import type { ChangeEvent } from '../list-watch.ts'
import type { Item } from '../storing/item.ts'
import { compareVersions } from '../storing/order.ts'

export interface PendingWrite<T extends KubeObject> {
  readonly namespace: string
  readonly name: string
  /** What we wrote; undefined when we took the object away. */
  readonly item: Item<T> | undefined
  /** The version of our write; for a delete, the last one that was known before it. */
  readonly version: string
  /** Of the object that we deleted; empty when it is not known. */
  readonly uid: string
  /** What the stream said last. */
  observed: Item<T> | undefined
}

/** Whether a change of this very object makes our own knowledge of it old. */
export function isConfirmedBy<T extends KubeObject>(ahead: PendingWrite<T>, { type, item }: ChangeEvent<T>): boolean {
  // A stream without gaps tells of our delete before it tells of whatever came under the same name afterwards.
  if (ahead.item === undefined) return type === 'DELETED' && (ahead.uid === '' || item.uid === ahead.uid)
  const order = compareVersions(item.version, ahead.version)
  if (order !== undefined) return order >= 0
  return type === 'DELETED' || item.version === ahead.version
}

/** Whether a stream that has come to a version leaves no doubt about our write. */
export function isPassed<T extends KubeObject>(ahead: PendingWrite<T>, version: string): boolean {
  return ahead.item !== undefined && (compareVersions(version, ahead.version) ?? -1) >= 0
}

/** Whether a list of a version, with this item or none in our object's place, makes our own knowledge old. */
export function isConfirmedByList<T extends KubeObject>(
  ahead: PendingWrite<T>,
  version: string,
  listed: Item<T> | undefined,
): boolean {
  if ((compareVersions(version, ahead.version) ?? 0) < 0) return false
  return ahead.item !== undefined || listed === undefined || (ahead.uid !== '' && listed.uid !== ahead.uid)
}
