/**
 * `evenkeel logs`: prints the output of a pod, or the Events of any other object.
 */
import type { KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { Event } from 'evenkeel/kinds/core/v1'
import { namespaceOptions, type Command, type Invocation } from '../command.ts'
import { eventsOf, eventSummaryOf, type EventSummary } from '../events.ts'
import { Failure } from '../failure.ts'
import { readTarget } from '../lookup.ts'
import { safeLine, safeText } from '../terminal.ts'

export const logs: Command = {
  name: 'logs',
  about: 'print the events of an object, or the output of a pod',
  usage: 'KIND/NAME',
  words: { least: 1, most: 2 },
  completes: 'kinds',
  options: {
    namespace: namespaceOptions['namespace'] ?? { type: 'string', about: 'the namespace' },
    follow: { type: 'boolean', short: 'f', about: 'follow new events' },
    container: { type: 'string', short: 'c', value: 'NAME', about: 'the container of the pod' },
    tail: { type: 'string', value: 'LINES', about: 'only the last lines' },
  },
  examples: ['evenkeel logs app/web -f', 'evenkeel logs pod/web-0 --tail 20'],
  async run(call) {
    const tail = tailOf(call.values.text('tail'))
    const client = await call.connect()
    const object = await readTarget(client, call)
    if (object.kind === 'Pod' && object.apiVersion === 'v1') return printOutput(client, object, { call, tail })
    const printed = await eventsOf(client, object, call.io)
    for (const each of tail === undefined ? printed : printed.slice(-tail)) print(each, call)
    if (call.values.flag('follow')) await follow(client, object, call)
    else if (printed.length === 0 && !call.json) call.io.stderr.write('No events.\n')
    return 0
  },
}

async function printOutput(
  client: Client,
  { metadata: { name = '', namespace = '' } }: KubeObject,
  { call, tail }: { call: Invocation; tail: number | undefined },
): Promise<number> {
  const container = call.values.text('container')
  const query = new URLSearchParams({
    ...(container !== undefined && { container }),
    ...(tail !== undefined && { tailLines: String(tail) }),
  }).toString()
  const answer = await client.raw(
    {
      path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/log${query === '' ? '' : `?${query}`}`,
      headers: { accept: '*/*' },
    },
    { signal: call.io.signal },
  )
  call.io.stdout.write(call.json ? `${JSON.stringify({ log: answer.text() })}\n` : safeText(answer.text()))
  return 0
}

async function follow(
  client: Client,
  { metadata: { name = '', namespace, uid }, kind }: KubeObject,
  call: Invocation,
): Promise<void> {
  const { signal } = call.io
  const fieldSelector = `involvedObject.name=${name}`
  const place = { namespace: namespace ?? 'default', fieldSelector, signal }
  const { metadata } = await client.list(Event, place)
  try {
    for await (const event of client.watch(Event, {
      ...place,
      ...(metadata.resourceVersion !== undefined && { resourceVersion: metadata.resourceVersion }),
    })) {
      if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue
      const { involvedObject } = event.object
      if (involvedObject.kind === kind && (involvedObject.uid ?? uid) === uid)
        print(eventSummaryOf(event.object as never), call)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function print(printed: EventSummary, { io: { stdout }, json }: Invocation): void {
  const { type, reason, message, from, count, lastTime } = printed
  stdout.write(
    json
      ? `${JSON.stringify(printed)}\n`
      : `${safeLine(`${lastTime} ${type === 'Warning' ? 'W' : ' '} ${from} ${reason}: ${message}${count > 1 ? ` (x${count})` : ''}`)}\n`,
  )
}

/** @throws {Failure} `usage` */
function tailOf(text: string | undefined): number | undefined {
  if (text === undefined || /^\d{1,9}$/.test(text)) return text === undefined ? undefined : Number(text)
  throw new Failure('usage', `--tail must be a number of lines, got ${JSON.stringify(text)}`)
}
