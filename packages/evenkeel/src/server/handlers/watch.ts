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
import { mediaTypes, type WireResponse } from '#wire'
import { selectionFor, type ListSelection } from '../list/selection.ts'
import type { RequestContext, ResourceRef, ServerContext } from '../request-context.ts'
import { headersOf, negotiateResponse } from '../response.ts'
import { initialFrames, WatchEncoder } from '../watch/frames.ts'
import { readListOptions, type ListOptions } from './list-options.ts'
import { readPage } from './list.ts'

const bookmarkMs = 60_000
/** The last bookmark comes this long before the end. */
const closingBookmarkMs = 2000
const timeoutMinSeconds = 1800

interface WatchContext {
  readonly call: RequestContext
  readonly target: ResourceRef
  readonly server: ServerContext
  readonly options: ListOptions
  readonly selection: ListSelection
  readonly framer: WatchEncoder
  /** It no longer counts. */
  readonly leave: () => void
}

/** The watch has begun when this resolves: whatever is written from then on is told. */
export async function watchResource(
  call: RequestContext,
  target: ResourceRef,
  server: ServerContext,
): Promise<WireResponse> {
  const { resource } = target
  const choice = negotiateResponse(call, resource)
  if (choice.format === 'yaml') throw notAcceptable([mediaTypes.json, mediaTypes.protobuf])
  const options = withName(readListOptions(call.query, { watch: true }), target.name)
  if (parseRequestedVersion(options.resourceVersion) === undefined)
    throw badRequest(`invalid resource version ${JSON.stringify(options.resourceVersion)}: it must be a whole number`)
  const selection = selectionFor(target, options, server)
  const { matches, key } = selection
  const framer = new WatchEncoder({ resource, choice, query: call.query, matches, key, clock: server.clock })
  const leave = countWatch(call, server)
  try {
    return {
      status: 200,
      headers: headersOf(call, choice.format, { stream: true }),
      body: await beginWatch({ call, target, server, options, selection, framer, leave }),
    }
  } catch (error) {
    leave()
    throw error
  }
}

/** A watch counts until it has ended, or its client is gone. */
function countWatch(call: RequestContext, { flowControl }: ServerContext): () => void {
  const uncount = flowControl.startWatch(call)
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
async function beginWatch(watching: WatchContext): Promise<AsyncIterable<Uint8Array>> {
  const {
    options: { resourceVersion, sendInitialEvents, allowWatchBookmarks: bookmarks },
    options,
    server,
    framer,
  } = watching
  const head = await server.store.head()
  if (sendInitialEvents && Number(resourceVersion) > head) {
    watching.leave()
    return single(framer.error(toStatus(resourceVersionTooLarge(resourceVersion, String(head)))))
  }
  const after = Number(resourceVersion) === 0 ? head : Number(resourceVersion)
  if (!(sendInitialEvents ?? (resourceVersion === '' || resourceVersion === '0'))) {
    return liveFrames(watching, { source: listenFrom(watching, Math.min(after, head)), above: after })
  }
  const share = server.flowControl.sliceList(watching.call.request)
  const page = await readPage(
    watching.target,
    { ...options, resourceVersion: '', resourceVersionMatch: '', limit: 0, sendInitialEvents: undefined },
    { server, share },
  )
  const from = Number(page.metadata.resourceVersion)
  return liveFrames(watching, {
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
    server,
    selection,
  }: WatchContext,
  after: number,
): Watch {
  return server.store.watch(selection.key ?? selection.prefix, { after, signal })
}

async function* single(frame: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield await Promise.resolve(frame)
}

interface WatchStart {
  readonly source: Watch
  /** A version that is not reached yet is waited for: nothing up to it is told. */
  readonly above: number
  readonly existing?: readonly Entry[]
  /** The version to end the existing objects with. */
  readonly mark?: number
}

/** What is there, then what happens. */
async function* liveFrames(
  watching: WatchContext,
  { source, above, existing = [], mark }: WatchStart,
): AsyncGenerator<Uint8Array, void> {
  const { call, target, options, framer } = watching
  const { stop, isLast } = watchTimers(source, watching)
  try {
    yield* initialFrames(existing, { framer, resource: target.resource, isLent: call.request.borrowsChunks === true })
    if (mark !== undefined) yield framer.bookmark(mark, { initial: true })
    for await (const batch of source) {
      const preparing = framer.prepare(batch)
      if (preparing) await preparing
      const bytes = batch.changes.length > 0 ? framer.batch(batch, { above }) : undefined
      if (bytes) yield bytes
      else if (batch.changes.length === 0 && options.allowWatchBookmarks && batch.revision >= above)
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

interface WatchTimers {
  /** Calls it all off. */
  readonly stop: () => void
  /** Whether nothing may follow: the definition of the resource changed or went, and all that was before it has been told. */
  readonly isLast: (batch: Pick<WatchBatch, 'revision'>) => boolean
}

/** Bookmarks now and then, the end when the time is over, the server stops or the resource is no longer what it was. */
function watchTimers(
  source: Watch,
  { options, target, server: { clock, random, stopping, store } }: WatchContext,
): WatchTimers {
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
  if (options.allowWatchBookmarks) {
    if (timeoutMs > closingBookmarkMs)
      cancels.push(
        clock.after(timeoutMs - closingBookmarkMs, () => {
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
