/**
 * Room 14: who should hear of the change?
 *
 * Before: `commit` numbered and announced it. After: the frames are on their way. A watch begins with what is there,
 * or with what happened after a version, and goes on until its time is over, the client leaves, the server stops, or
 * the client reads too slowly; it never makes a writer wait.
 */
import { badRequest, expired, notAcceptable, parseRequestedVersion, resourceVersionTooLarge, toStatus } from '#api'
import { onAbort, randomInt } from '#base'
import type { Entry, Watch, WatchBatch } from '#store'
import { mediaTypes } from '#wire'
import type { WireResponse } from '#wire'
import type { Call, Rooms, Target } from '../call.ts'
import { readListOptions } from '../options/list-options.ts'
import type { ListOptions } from '../options/list-options.ts'
import { chooseForm, headersOf } from '../reply.ts'
import { select } from '../listing/selection.ts'
import type { Selection } from '../listing/selection.ts'
import { existingFrames } from '../watching/existing.ts'
import { Framer } from '../watching/frames.ts'
import { readPage } from './list.ts'

const bookmarkMs = 60_000
/** The last bookmark comes this long before the end. */
const farewellMs = 2000
const timeoutMinSeconds = 1800

interface Watching {
  readonly call: Call
  readonly target: Target
  readonly rooms: Rooms
  readonly options: ListOptions
  readonly selection: Selection
  readonly framer: Framer
  /** It no longer counts. */
  readonly leave: () => void
}

/** The watch has begun when this resolves: whatever is written from then on is told. */
export async function watch(call: Call, target: Target, rooms: Rooms): Promise<WireResponse> {
  const { resource } = target
  const choice = chooseForm(call, resource)
  if (choice.format === 'yaml') throw notAcceptable([mediaTypes.json, mediaTypes.protobuf])
  const options = withName(readListOptions(call.query, { watch: true }), target.name)
  if (parseRequestedVersion(options.resourceVersion) === undefined)
    throw badRequest(`invalid resource version ${JSON.stringify(options.resourceVersion)}: it must be a whole number`)
  const selection = select(target, options, rooms)
  const { matches, key } = selection
  const framer = new Framer({ resource, choice, query: call.query, matches, key, clock: rooms.clock })
  const leave = countWatch(call, rooms)
  try {
    return {
      status: 200,
      headers: headersOf(call, choice.format, { stream: true }),
      body: await begin({ call, target, rooms, options, selection, framer, leave }),
    }
  } catch (error) {
    leave()
    throw error
  }
}

/** A watch counts until it has ended, or its client is gone. */
function countWatch(call: Call, { traffic }: Rooms): () => void {
  const uncount = traffic.watchBegins(call)
  const stop = onAbort(call.request.signal, uncount)
  return () => {
    stop()
    uncount()
  }
}

// The old way to watch one object names it in the path.
function withName(options: ListOptions, name: string): ListOptions {
  return name === ''
    ? options
    : { ...options, fields: [...options.fields, { field: 'metadata.name', operator: '=', value: name }] }
}

/** Finds the point to start from and begins to listen there. */
async function begin(watching: Watching): Promise<AsyncIterable<Uint8Array>> {
  const {
    options: { resourceVersion, sendInitialEvents, bookmarks },
    options,
    rooms,
    framer,
  } = watching
  const head = await rooms.store.head()
  if (sendInitialEvents && Number(resourceVersion) > head) {
    watching.leave()
    return single(framer.error(toStatus(resourceVersionTooLarge(resourceVersion, String(head)))))
  }
  const after = Number(resourceVersion) === 0 ? head : Number(resourceVersion)
  if (!(sendInitialEvents ?? (resourceVersion === '' || resourceVersion === '0'))) {
    return live(watching, { source: listenFrom(watching, Math.min(after, head)), above: after })
  }
  const share = rooms.traffic.share(watching.call.request)
  const page = await readPage(
    watching.target,
    { ...options, resourceVersion: '', match: '', limit: 0, sendInitialEvents: undefined },
    { rooms, share },
  )
  const from = Number(page.metadata.resourceVersion)
  return live(watching, {
    source: listenFrom(watching, from),
    above: from,
    existing: page.entries,
    ...(sendInitialEvents && bookmarks && { mark: from }),
  })
}

function listenFrom(
  {
    call: {
      request: { signal },
    },
    rooms,
    selection,
  }: Watching,
  after: number,
): Watch {
  return rooms.store.watch(selection.key ?? selection.prefix, { after, signal })
}

async function* single(frame: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield await Promise.resolve(frame)
}

interface Beginning {
  readonly source: Watch
  /** A version that is not reached yet is waited for: nothing up to it is told. */
  readonly above: number
  readonly existing?: readonly Entry[]
  /** The version to end the existing objects with. */
  readonly mark?: number
}

/** What is there, then what happens. */
async function* live(
  watching: Watching,
  { source, above, existing = [], mark }: Beginning,
): AsyncGenerator<Uint8Array, void> {
  const { call, target, options, framer } = watching
  const { stop, isLast } = schedule(source, watching)
  try {
    yield* existingFrames(existing, { framer, resource: target.resource, isLent: call.request.borrowsPieces === true })
    if (mark !== undefined) yield framer.bookmark(mark, { initial: true })
    for await (const batch of source) {
      const preparing = framer.prepare(batch)
      if (preparing) await preparing
      const bytes = batch.changes.length > 0 ? framer.batch(batch, { above }) : undefined
      if (bytes) yield bytes
      else if (batch.changes.length === 0 && options.bookmarks && batch.revision >= above)
        yield framer.bookmark(batch.revision)
      if (isLast(batch)) break
    }
    if (source.end?.reason === 'compacted')
      yield framer.error(
        toStatus(expired(`too old resource version: ${options.resourceVersion} (${source.end.compacted})`)),
      )
  } catch (error) {
    if (call.request.signal.aborted || target.resource.retired?.aborted) return
    yield framer.error(toStatus(error))
  } finally {
    stop()
    source.close()
    watching.leave()
  }
}

interface Schedule {
  /** Calls it all off. */
  readonly stop: () => void
  /** Whether nothing may follow: the definition of the resource changed or went, and all that was before it has been told. */
  readonly isLast: (batch: Pick<WatchBatch, 'revision'>) => boolean
}

/** Bookmarks now and then, the end when the time is over, the server stops or the resource is no longer what it was. */
function schedule(source: Watch, { options, target, rooms: { clock, random, stopping, store } }: Watching): Schedule {
  const timeoutMs = (options.timeoutSeconds || timeoutMinSeconds + randomInt(random, timeoutMinSeconds)) * 1000
  const close = (): void => {
    source.close()
  }
  let last = Number.POSITIVE_INFINITY
  const retire = (): void => {
    store
      .head()
      .then((head) => {
        last = head
        source.requestProgress()
      })
      .catch(close)
  }
  const cancels = [clock.after(timeoutMs, close), onAbort(stopping, close), onAbort(target.resource.retired, retire)]
  if (options.bookmarks) {
    if (timeoutMs > farewellMs)
      cancels.push(
        clock.after(timeoutMs - farewellMs, () => {
          source.requestProgress()
        }),
      )
    let cancel = (): void => {}
    const again = (): void => {
      cancel = clock.after(bookmarkMs, () => {
        source.requestProgress()
        again()
      })
    }
    again()
    cancels.push(() => {
      cancel()
    })
  }
  return {
    stop: () => {
      for (const cancel of cancels) cancel()
    },
    isLast: ({ revision }) => revision >= last,
  }
}
