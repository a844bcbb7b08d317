/**
 * `evenkeel logs`: prints the output of an object with a `log` subresource, such as a pod, or the Events of any other.
 */
import type { KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { isApiError } from 'evenkeel/unstable/api'
import { namespaceOptions, selectorOptions, type Command, type Invocation, type OptionValues } from '../command.ts'
import { eventMs, eventSelector, eventSummaryOf, isEventOf, type EventSummary } from '../events.ts'
import { Failure } from '../failure.ts'
import { linePrinters, refOf } from '../log-lines.ts'
import { followLines, linesOf } from '../log-stream.ts'
import { lookUp, namespaceOf, readTarget, readTargets } from '../lookup.ts'
import { watchObjects } from '../object-watch.ts'
import { durationOf } from '../parse.ts'
import { safeLine, safeText } from '../terminal.ts'

export const logs: Command = {
  name: 'logs',
  about: 'print the output of objects, or the events of one',
  usage: 'KIND/NAME ... | KIND NAME ... | KIND -l LABELS | KIND --all',
  words: { least: 1, most: Infinity },
  completes: 'kinds',
  options: {
    ...namespaceOptions,
    ...selectorOptions,
    all: { type: 'boolean', about: 'of all objects of the kind' },
    follow: { type: 'boolean', short: 'f', about: 'print new lines as they come, until Ctrl-C' },
    tail: { type: 'string', value: 'LINES', about: 'only the last lines' },
    since: { type: 'string', value: 'TIME', about: 'only lines of the last 5m, 1h' },
    timestamps: { type: 'boolean', about: 'with output: begin each line with its time' },
    container: { type: 'string', short: 'c', value: 'NAME', about: 'with output: of this container' },
    source: { type: 'string', value: 'NAME', about: 'with output: stdout, stderr, system, or what the kind has' },
    previous: { type: 'boolean', short: 'p', about: 'with output: of the run, or container, before the last one' },
    run: { type: 'string', value: 'NUMBER', about: 'with output: of this run' },
    grep: { type: 'string', value: 'TEXT', about: 'only lines that contain the text' },
    events: { type: 'boolean', about: 'print the events, even if the object has output' },
  },
  details:
    'An object has output if its kind has the subresource log, as pods and processes do. Events of every other object are printed, oldest first. Lines of several objects begin with the name of theirs.',
  examples: [
    'evenkeel logs app/web -f',
    'evenkeel logs process -f --all --tail 20',
    'evenkeel logs process/web process/api --grep error',
    'evenkeel logs pod/web-0 --events',
  ],
  async run(call) {
    const query = queryOf(call.values)
    const client = await call.connect()
    const objects = await chosenObjects(client, call)
    const resources = await client.resources()
    const hasLog = (object: KubeObject): boolean =>
      resources.some(
        ({ apiVersion, kind, subresources }) =>
          apiVersion === object.apiVersion && kind === object.kind && subresources.includes('log'),
      )
    const [first, second] = objects
    if (first && !second && (!hasLog(first) || call.values.flag('events'))) {
      await printEvents(client, first, { call, query })
      return 0
    }
    const without = objects.find((object) => !hasLog(object))
    if (without)
      throw new Failure('usage', `${refOf(without)} has no output: print the events of one object at a time`, {
        hint: `evenkeel logs ${refOf(without)}`,
      })
    return printOutputs(client, objects, { call, query })
  },
}

/** Of named objects, of those with labels, or of all. @throws {Failure} `usage`, `not-found` */
async function chosenObjects(client: Client, call: Invocation): Promise<readonly KubeObject[]> {
  const { values, words, io } = call
  const [labels, fields] = [values.text('selector'), values.text('field-selector')]
  if (labels === undefined && fields === undefined && !values.flag('all')) {
    const isNamed = words.length > 1 || words[0]?.includes('/') === true
    return isNamed ? readTargets(client, call) : [await readTarget(client, call)]
  }
  const objects: KubeObject[] = []
  for (const { resource, names } of await lookUp(client, words)) {
    if (names.length > 0) throw new Failure('usage', 'use either names or -l, --field-selector and --all')
    const { apiVersion, kind } = resource
    const namespace = namespaceOf(values, resource, client)
    const { items } = await client.list(
      { apiVersion, kind },
      {
        ...(namespace !== undefined && { namespace }),
        ...(labels !== undefined && { labelSelector: labels }),
        ...(fields !== undefined && { fieldSelector: fields }),
        signal: io.signal,
      },
    )
    objects.push(...items.map((item) => ({ ...item, apiVersion, kind })))
  }
  if (objects.length === 0) throw new Failure('not-found', `there is no object to print logs of`)
  return objects
}

/** With the names of Kubernetes. */
interface LogQuery {
  readonly follow?: boolean
  readonly tailLines?: number
  readonly sinceSeconds?: number
  readonly timestamps?: boolean
  readonly previous?: boolean
  readonly container?: string
  readonly source?: string
  readonly run?: number
}

/** @throws {Failure} `usage` */
function queryOf(values: OptionValues): LogQuery {
  const [tail, since, run] = [values.text('tail'), values.text('since'), values.text('run')]
  const [container, source] = [values.text('container'), values.text('source')]
  if (tail !== undefined && !/^\d{1,9}$/.test(tail))
    throw new Failure('usage', `--tail must be a number of lines, got ${JSON.stringify(tail)}`, { hint: '--tail 20' })
  if (run !== undefined && !/^[1-9]\d{0,8}$/.test(run))
    throw new Failure('usage', `--run must be the number of a run, got ${JSON.stringify(run)}`, { hint: '--run 2' })
  return {
    ...(values.flag('follow') && { follow: true }),
    ...(tail !== undefined && { tailLines: Number(tail) }),
    ...(since !== undefined && { sinceSeconds: Math.max(1, Math.round(durationOf('since', since) / 1000)) }),
    ...(values.flag('timestamps') && { timestamps: true }),
    ...(values.flag('previous') && { previous: true }),
    ...(container !== undefined && { container }),
    ...(source !== undefined && { source }),
    ...(run !== undefined && { run: Number(run) }),
  }
}

interface LogOptions {
  readonly call: Invocation
  readonly query: LogQuery
}

/** Returns the exit code: not 0 when one of several objects has no log now. */
async function printOutputs(
  client: Client,
  objects: readonly KubeObject[],
  { call, query }: LogOptions,
): Promise<number> {
  const { io, json, values } = call
  const grep = values.text('grep')
  const printers = linePrinters(call, { objects, grep })
  const [only, another] = objects
  if (query.follow !== true && only && !another && grep === undefined) {
    const text = await client.subresource('log').text(only, { parameters: { ...query }, signal: io.signal })
    io.stdout.write(json ? `${JSON.stringify({ log: text })}\n` : safeText(text))
    return 0
  }
  let failures = 0
  const printOne = async (object: KubeObject, print: (line: string) => void): Promise<void> => {
    const { signal, clock } = io
    const parameters = { ...query }
    const lines =
      query.follow === true
        ? followLines(object, {
            parameters,
            signal,
            clock,
            connect: clientsOf(client, call),
            onBreak: noteOf(object, call),
          })
        : linesOf(client, object, { parameters, signal })
    try {
      for await (const line of lines) print(line)
    } catch (error) {
      if (signal.aborted) return
      if (objects.length === 1 || !isApiError(error)) throw error
      failures++
      io.stderr.write(`${refOf(object)}: ${safeLine(error.message)}\n`)
    }
  }
  const printing = objects.map((object, index) => () => printOne(object, printers[index] ?? (() => undefined)))
  if (query.follow === true) await untilStopped(io.signal, () => Promise.all(printing.map((print) => print())))
  else for (const print of printing) await print()
  return failures === 0 ? 0 : 1
}

/** The client of this command first, then new ones. */
function clientsOf(client: Client, call: Invocation): () => Promise<Client> {
  let isFirst = true
  return () => {
    const next = isFirst ? Promise.resolve(client) : call.connect()
    isFirst = false
    return next
  }
}

function noteOf(object: KubeObject, { io }: Invocation): () => void {
  return () => {
    io.stderr.write(`${refOf(object)}: the connection broke; waiting for the server\n`)
  }
}

async function printEvents(client: Client, object: KubeObject, { call, query }: LogOptions): Promise<void> {
  const { io, json } = call
  const news = new EventNews(object)
  const changes = watchObjects(
    client,
    { apiVersion: 'v1', kind: 'Event' },
    {
      ...eventSelector(object),
      signal: io.signal,
      clock: io.clock,
    },
  )
  let isFirst = true
  await untilStopped(io.signal, async () => {
    for await (const change of changes) {
      const fresh = change.type === 'LISTED' ? change.objects : change.type === 'DELETED' ? [] : [change.object]
      const events = news.take(fresh)
      for (const each of isFirst ? selected(events, { query, nowMs: io.clock.now() }) : events) print(each, call)
      if (isFirst && events.length === 0 && !json)
        io.stderr.write(query.follow === true ? 'No events yet.\n' : 'No events.\n')
      isFirst = false
      if (query.follow !== true) break
    }
  })
}

/** Each Event of an object once, and again when it happened again. */
class EventNews {
  readonly #object: KubeObject
  readonly #counts = new Map<string, number>()

  constructor(object: KubeObject) {
    this.#object = object
  }

  take(events: readonly KubeObject[]): readonly EventSummary[] {
    const own = events.filter((event) => isEventOf(event, this.#object))
    return own
      .flatMap((event) => {
        const summary = eventSummaryOf(event)
        const name = event.metadata.name ?? ''
        if (this.#counts.get(name) === summary.count) return []
        this.#counts.set(name, summary.count)
        return [summary]
      })
      .sort((a, b) => eventMs(a) - eventMs(b))
  }
}

/** The last ones, or those of the last minutes. */
function selected(
  events: readonly EventSummary[],
  { query: { tailLines, sinceSeconds }, nowMs }: { query: LogQuery; nowMs: number },
): readonly EventSummary[] {
  const recent = events.filter((event) => sinceSeconds === undefined || eventMs(event) >= nowMs - sinceSeconds * 1000)
  return tailLines === undefined ? recent : recent.slice(Math.max(0, recent.length - tailLines))
}

/** Ctrl-C is the normal end of a command that follows. */
async function untilStopped(signal: AbortSignal, follow: () => Promise<unknown>): Promise<void> {
  try {
    await follow()
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function print(printed: EventSummary, { io: { stdout }, json }: Invocation): void {
  const { type, reason, message, from, count, lastTime } = printed
  stdout.write(
    json
      ? `${JSON.stringify(printed)}\n`
      : `${safeLine(`${lastTime} ${type === 'Warning' ? 'W' : ' '} ${from === '' ? '' : `${from} `}${reason}: ${message}${count > 1 ? ` (x${count})` : ''}`)}\n`,
  )
}
