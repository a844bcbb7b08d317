/**
 * `evenkeel logs`: prints the output of an object with a `log` subresource, such as a pod, or the Events of any other.
 */
import type { KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { oneNamespaceOption, type Command, type Invocation, type OptionValues } from '../command.ts'
import { eventMs, eventSelector, eventSummaryOf, isEventOf, type EventSummary } from '../events.ts'
import { Failure } from '../failure.ts'
import { readTarget } from '../lookup.ts'
import { watchObjects } from '../object-watch.ts'
import { durationOf } from '../parse.ts'
import { safeLine, safeText } from '../terminal.ts'

export const logs: Command = {
  name: 'logs',
  about: 'print the output of an object, or its events',
  usage: 'KIND/NAME',
  words: { least: 1, most: 2 },
  completes: 'kinds',
  options: {
    ...oneNamespaceOption,
    follow: { type: 'boolean', short: 'f', about: 'print new lines as they come, until Ctrl-C' },
    tail: { type: 'string', value: 'LINES', about: 'only the last lines' },
    since: { type: 'string', value: 'TIME', about: 'only lines of the last 5m, 1h' },
    timestamps: { type: 'boolean', about: 'with output: begin each line with its time' },
    container: { type: 'string', short: 'c', value: 'NAME', about: 'with output: of this container' },
    previous: { type: 'boolean', short: 'p', about: 'with output: of the container before its last restart' },
    events: { type: 'boolean', about: 'print the events, even if the object has output' },
  },
  details:
    'An object has output if its kind has the subresource log, as pods do. Events of every other object are printed, oldest first.',
  examples: ['evenkeel logs app/web -f', 'evenkeel logs pod/web-0 --tail 20 -f', 'evenkeel logs pod/web-0 --events'],
  async run(call) {
    const query = queryOf(call.values)
    const client = await call.connect()
    const object = await readTarget(client, call)
    const hasLog = (await client.resources()).some(
      ({ apiVersion, kind, subresources }) =>
        apiVersion === object.apiVersion && kind === object.kind && subresources.includes('log'),
    )
    if (hasLog && !call.values.flag('events')) await printOutput(client, object, { call, query })
    else await printEvents(client, object, { call, query })
    return 0
  },
}

/** With the names of Kubernetes. */
interface LogQuery {
  readonly follow?: boolean
  readonly tailLines?: number
  readonly sinceSeconds?: number
  readonly timestamps?: boolean
  readonly previous?: boolean
  readonly container?: string
}

/** @throws {Failure} `usage` */
function queryOf(values: OptionValues): LogQuery {
  const [tail, since, container] = [values.text('tail'), values.text('since'), values.text('container')]
  if (tail !== undefined && !/^\d{1,9}$/.test(tail))
    throw new Failure('usage', `--tail must be a number of lines, got ${JSON.stringify(tail)}`, { hint: '--tail 20' })
  return {
    ...(values.flag('follow') && { follow: true }),
    ...(tail !== undefined && { tailLines: Number(tail) }),
    ...(since !== undefined && { sinceSeconds: Math.max(1, Math.round(durationOf('since', since) / 1000)) }),
    ...(values.flag('timestamps') && { timestamps: true }),
    ...(values.flag('previous') && { previous: true }),
    ...(container !== undefined && { container }),
  }
}

interface LogOptions {
  readonly call: Invocation
  readonly query: LogQuery
}

async function printOutput(client: Client, object: KubeObject, { call, query }: LogOptions): Promise<void> {
  const { io, json } = call
  const log = client.subresource('log')
  const options = { parameters: { ...query }, signal: io.signal }
  if (query.follow !== true) {
    const text = await log.text(object, options)
    io.stdout.write(json ? `${JSON.stringify({ log: text })}\n` : safeText(text))
    return
  }
  const print = (line: string): void => {
    io.stdout.write(json ? `${JSON.stringify({ log: line })}\n` : `${safeLine(line)}\n`)
  }
  await untilStopped(io.signal, async () => {
    let rest = ''
    for await (const piece of log.stream(object, options)) {
      const lines = `${rest}${piece}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) print(line.replace(/\r$/, ''))
      // A program may write a line without an end: it must not fill the memory.
      if (rest.length > lineLengthMax) {
        print(rest)
        rest = ''
      }
    }
    if (rest !== '') print(rest)
  })
}

const lineLengthMax = 1024 * 1024

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
async function untilStopped(signal: AbortSignal, follow: () => Promise<void>): Promise<void> {
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
