/**
 * What a process has been shown: of every object the last version that arrived.
 *
 * Whether a process did wrong depends on what it could know, not on what was true.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { isJsonObject, type JsonObject, type UnstructuredObject } from '#api'
import type { BaseContext, ControllerDeclaration } from '#controller'
import { noteReconcile } from './hang-watchdog.ts'
import { parseCached } from './requests.ts'

export class ObservedState {
  /** How much had arrived when the run began that is alone in the process, while there is one. */
  runStartArrivals: number | undefined
  readonly #seen = new Map<string, UnstructuredObject>()
  /** What arrived and was not looked at yet: most of it never is. */
  #arrivals = 0
  /** When each was first seen being deleted, by uid. */
  readonly #deletingSince = new Map<string, number>()
  /** Something that arrived may be an object that is being deleted. */
  #mentionsDeletion = false
  #arrived: { readonly type: 'line' | 'body'; readonly text: string; readonly arrival: number }[] = []

  /** The last that was seen of an object; undefined when it never was, or was seen to go. */
  find(kind: string, { namespace = '', name }: { namespace?: string; name: string }): UnstructuredObject | undefined {
    this.#look()
    return this.#seen.get(`${kind} ${namespace}/${name}`)
  }

  /** All that was last seen. */
  all(): IterableIterator<UnstructuredObject> {
    this.#look()
    return this.#seen.values()
  }

  /** How much has arrived. */
  get arrivals(): number {
    return this.#arrivals
  }

  /** Objects that were last seen being deleted, and had been when so much had arrived. */
  deleting(before = Infinity): UnstructuredObject[] {
    if (!this.#mentionsDeletion) return []
    return [...this.all()].filter(
      ({ metadata: { deletionTimestamp, uid = '' } }) =>
        deletionTimestamp !== undefined && (this.#deletingSince.get(uid) ?? 0) <= before,
    )
  }

  /** A line of a watch arrived. */
  addWatchLine(text: string): void {
    this.#arrive('line', text)
  }

  /** An answer arrived: an object, or a list. */
  addBody(text: string): void {
    this.#arrive('body', text)
  }

  #arrive(type: 'line' | 'body', text: string): void {
    this.#arrived.push({ type, text, arrival: ++this.#arrivals })
    this.#mentionsDeletion ||= text.includes('"deletionTimestamp"')
  }

  #look(): void {
    for (const { type, text, arrival } of this.#arrived) {
      if (type === 'line') this.#line(text, arrival)
      else this.#body(text, arrival)
    }
    this.#arrived = []
  }

  #line(text: string, arrival: number): void {
    const event = parsed(text)
    const object = event?.['object']
    if (!isObject(object)) return
    if (event?.['type'] === 'DELETED') this.#seen.delete(keyOf(object))
    else if (event?.['type'] !== 'BOOKMARK') this.#note(object as unknown as JsonObject, arrival)
  }

  #body(text: string, arrival: number): void {
    const document = parsed(text)
    if (!document) return
    const { items, kind, apiVersion } = document
    if (!Array.isArray(items)) return this.#note(document, arrival)
    const type = { kind: String(kind).replace(/List$/, ''), apiVersion: apiVersion as string }
    for (const item of items) if (isJsonObject(item)) this.#note({ ...type, ...item }, arrival)
  }

  #note(object: JsonObject, arrival: number): void {
    if (!isObject(object) || object.kind === 'Status') return
    this.#seen.set(keyOf(object), object)
    const { deletionTimestamp, uid = '' } = object.metadata
    if (deletionTimestamp !== undefined && !this.#deletingSince.has(uid)) this.#deletingSince.set(uid, arrival)
  }
}

function isObject(value: unknown): value is UnstructuredObject {
  return isJsonObject(value) && isJsonObject(value['metadata']) && typeof value['kind'] === 'string'
}

function keyOf({ kind, metadata: { namespace = '', name = '' } }: UnstructuredObject): string {
  return `${kind} ${namespace}/${name}`
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value = parseCached(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/*
 * What a process had been shown when a run began: what arrives later the run cannot know, unless it looks.
 *
 * Following a run through everything it waits for costs as much as the run. So a run that is alone in its process is
 * remembered by the process, and only runs beside it are followed. What is asked for outside of runs while one is alone
 * counts as its own: then too little is held against the program, never too much.
 */

/** For runs beside others: how much had arrived when they began. */
const concurrentRuns = new AsyncLocalStorage<number>()

/** How much a process had been shown when the current run began; undefined outside of runs. */
export function arrivalsAtRunStart({ runStartArrivals: alone }: ObservedState): number | undefined {
  return concurrentRuns.getStore() ?? alone
}

/** No run is followed any more, and nothing is paid for it. */
export function stopTrackingRuns(): void {
  concurrentRuns.disable()
}

/** The same controller, whose runs remember when they began. */
export function trackRuns(declaration: ControllerDeclaration, observed: ObservedState): ControllerDeclaration {
  const dated =
    <P extends unknown[], R>(run: (...parameters: P) => R, self: object) =>
    (...parameters: P): R => {
      const begin = (): R => run.apply(self, parameters)
      const { namespace = '', name } = (parameters[1] as Pick<BaseContext, 'key'>).key
      noteReconcile(declaration.name ?? declaration.for.kind.toLowerCase(), `${namespace}/${name}`)
      return observed.runStartArrivals === undefined
        ? runAlone(begin, observed)
        : concurrentRuns.run(observed.arrivals, begin)
    }
  const { reconcile, reconcileKey, cleanup } = declaration
  const runs = {
    ...(reconcile && { reconcile: dated(reconcile, declaration) }),
    ...(reconcileKey && { reconcileKey: dated(reconcileKey, declaration) }),
    ...(typeof cleanup === 'function' && { cleanup: dated(cleanup, declaration) }),
    ...(Array.isArray(cleanup) && {
      cleanup: cleanup.map((step) => ({ ...step, cleanup: dated(step.cleanup, step) })),
    }),
  }
  return Object.assign(
    Object.create(Object.getPrototypeOf(declaration) as object) as ControllerDeclaration,
    declaration,
    runs,
  )
}

function runAlone<R>(begin: () => R, observed: ObservedState): R {
  const end = (): void => {
    observed.runStartArrivals = undefined
  }
  observed.runStartArrivals = observed.arrivals
  let result: unknown
  try {
    return (result = begin())
  } finally {
    if (result instanceof Promise) result.then(end, end)
    else end()
  }
}
