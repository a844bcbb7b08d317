/**
 * Requests and lists: one after the other on every connection, each right after the previous response.
 */
import { gunzipSync } from 'node:zlib'
import { collectionPath } from '../objects.ts'
import { Connection } from './connection.ts'
import type { Address, ListJob, LoadResult, RequestsJob } from './jobs.ts'
import { Meter } from './meter.ts'
import { createStep, expectStatus, ownObjectStep } from './steps.ts'
import type { Sequence, Step } from './steps.ts'
import { requestText } from './template.ts'

const handshakesMax = 32
const gzipMagic = 0x1f8b

/** Decides whether there is another turn, and records the duration of each. */
export interface Turns extends Pick<Meter, 'begin' | 'end'> {
  /** Whether the turn must wait; then it is called later. */
  hold?(turn: () => void): boolean
}

export async function runRequests(job: RequestsJob): Promise<LoadResult> {
  const connections = await openConnections(job.place.address, job.connections)
  try {
    const sequence: Sequence = { next: 0 }
    const steps =
      job.operation === 'create'
        ? connections.map((_, index) => createStep(job, sequence, index))
        : await Promise.all(connections.map((connection, index) => ownObjectStep(job, connection, index)))
    const meter = new Meter({ bounds: job.bounds, processIds: job.place.processIds })
    await driveAll(connections, steps, meter)
    return meter.result()
  } finally {
    for (const connection of connections) connection.close()
  }
}

/** The first list is checked and not counted; the others must have a similar length. */
export async function runLists({
  place: { address, kind, namespace, processIds },
  items,
  gzip,
  bounds,
}: ListJob): Promise<LoadResult> {
  const connection = await Connection.open(address)
  try {
    const text = requestText(address, { method: 'GET', path: collectionPath(kind, namespace), gzip })
    const first = await connection.ask(text, { keepBody: true })
    const bytes = first.bodyBytes
    expectItems(first.body, items)
    const request = Buffer.from(text, 'latin1')
    const step: Step = {
      keepBody: false,
      next: () => request,
      check: (response) => {
        expectStatus(response, 200)
        if (Math.abs(response.bodyBytes - bytes) > 64 + bytes / 1000)
          throw new Error(`a list of ${response.bodyBytes} bytes followed one of ${bytes}`)
      },
    }
    const meter = new Meter({ bounds, processIds })
    await driveAll([connection], [step], meter)
    return meter.result()
  } finally {
    connection.close()
  }
}

/** Resolves after the last turn of every connection; rejects with the first wrong response. */
export async function driveAll(
  connections: readonly Connection[],
  steps: readonly Step[],
  turns: Turns,
): Promise<void> {
  await Promise.all(connections.map((connection, index) => drive(connection, steps[index] as Step, turns)))
}

/** A few at a time: a thousand concurrent handshakes would time out. */
export async function openConnections(address: Address, count: number): Promise<Connection[]> {
  const opened: Connection[] = []
  try {
    let left = count
    await Promise.all(
      Array.from({ length: Math.min(count, handshakesMax) }, async () => {
        while (left-- > 0) opened.push(await Connection.open(address))
      }),
    )
    return opened
  } catch (error) {
    for (const connection of opened) connection.close()
    throw error
  }
}

/** Callbacks instead of promises, so that the measurement shows the server. */
function drive(connection: Connection, step: Step, turns: Turns): Promise<void> {
  return new Promise((done, failed) => {
    const turn = (): void => {
      if (turns.hold?.(turn)) return
      const begunAt = turns.begin()
      if (begunAt === undefined) {
        done()
        return
      }
      connection.send(step.next(), step, (response) => {
        step.check(response)
        turns.end(begunAt)
        turn()
      })
    }
    connection.onFail = failed
    turn()
  })
}

/** The ConfigMap that a cluster makes in each namespace. */
const rootCa = 'kube-root-ca.crt'

function expectItems(body: Buffer | undefined, items: number): void {
  const bytes = body ?? Buffer.from('{}')
  const plain = bytes.readUInt16BE() === gzipMagic ? gunzipSync(bytes) : bytes
  const list = JSON.parse(plain.toString('utf8')) as { items?: { metadata: { name: string } }[] }
  const found = list.items?.filter(({ metadata }) => metadata.name !== rootCa).length
  if (found !== items) throw new Error(`expected a list of ${items} objects, got ${found}`)
}
