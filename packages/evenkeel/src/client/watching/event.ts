/**
 * Room 15: what did the server say? One line of a watch as an event.
 *
 * Before: `walks/watch` wrote the line. After: the reflector, or whoever watches, acts on it.
 */
import { fromStatus, isJsonObject } from '#api'
import type { ApiError, JsonObject, KubeObject } from '#api'
import { ConnectionError } from '../request/connection-error.ts'

/** What happened to one object, or to the watch itself. */
export type WatchEvent<T extends KubeObject> = ChangeEvent<T> | BookmarkEvent | ErrorEvent

export interface ChangeEvent<T extends KubeObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  /** The object after the change; for `DELETED` its last state. */
  readonly object: T
}

/** Nothing happened up to this version: a watch may go on from here. */
export interface BookmarkEvent {
  readonly type: 'BOOKMARK'
  readonly resourceVersion: string
  /** All objects that were there at the beginning have been told (`sendInitialEvents`). */
  readonly initialEventsEnd: boolean
}

/** The server gives up this watch; with reason `Expired` it must be begun anew, by a list. */
export interface ErrorEvent {
  readonly type: 'ERROR'
  readonly error: ApiError
}

/**
 * Reads one line.
 *
 * @throws {ConnectionError} `garbled`, when the line is no event: what else is missing then cannot be known.
 */
export function readEvent<T extends KubeObject>(line: string, finish: (object: JsonObject) => T): WatchEvent<T> {
  const { type, object } = parseWatchLine(line)
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      if (!isJsonObject(object['metadata'])) throw invalidWatchLine(line)
      return { type, object: finish(object) }
    case 'BOOKMARK':
      return readBookmark(object, line)
    case 'ERROR':
      return { type, error: fromStatus(object) }
    default:
      throw invalidWatchLine(line)
  }
}

function readBookmark({ metadata }: JsonObject, line: string): BookmarkEvent {
  if (!isJsonObject(metadata) || typeof metadata['resourceVersion'] !== 'string') throw invalidWatchLine(line)
  const { annotations } = metadata
  const initialEventsEnd = isJsonObject(annotations) && annotations['k8s.io/initial-events-end'] === 'true'
  return { type: 'BOOKMARK', resourceVersion: metadata['resourceVersion'], initialEventsEnd }
}

/** The two parts of a line of a watch. @throws {ConnectionError} for a line that is no event. */
export function parseWatchLine(line: string): { readonly type: unknown; readonly object: JsonObject } {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (cause) {
    throw invalidWatchLine(line, cause)
  }
  if (!isJsonObject(value) || !isJsonObject(value['object'])) throw invalidWatchLine(line)
  return { type: value['type'], object: value['object'] }
}

/** What to throw when a line of a watch is not what it should be. */
export function invalidWatchLine(line: string, cause?: unknown): ConnectionError {
  return new ConnectionError(`the watch has a line that is no event: ${JSON.stringify(line.slice(0, 80))}`, {
    problem: 'garbled',
    cause,
  })
}
