/**
 * The repeated requests of one connection for each operation, and the expected responses.
 *
 * Every connection reads and writes its own object, so no update fails with a conflict. Each update carries the
 * resource version of the previous response, and its response must have a newer one.
 */
import { collectionPath, objectBytes, objectText, patchText } from '../objects.ts'
import type { Connection, Response } from './connection.ts'
import type { RequestsJob } from './jobs.ts'
import { RequestTemplate, requestText, slots } from './template.ts'

export interface Step {
  readonly keepBody: boolean
  /** The next request. */
  next(): Buffer
  /** Throws on a wrong response. */
  check(response: Response): void
}

/** Numbers for new objects, shared by all connections of a job. */
export interface Sequence {
  next: number
}

/** `variant` selects the content of the objects. */
export function createStep(
  { place: { address, kind, namespace }, run }: Pick<RequestsJob, 'place' | 'run'>,
  sequence: Sequence,
  variant: number,
): Step {
  const body = objectText(kind, { object: `${run}-${slots.number}`, counter: '0000000000', variant })
  const template = new RequestTemplate(
    requestText(address, { method: 'POST', path: collectionPath(kind, namespace), body }),
  )
  return {
    keepBody: false,
    next: () => {
      template.setNumber('number', sequence.next++)
      return template.bytes
    },
    check: (response) => {
      expectStatus(response, 201)
    },
  }
}

/** Creates the connection's own object and returns the operations on it. */
export async function ownObjectStep(job: RequestsJob, connection: Connection, index: number): Promise<Step> {
  const {
    place: { address, kind, namespace },
    run,
    operation,
  } = job
  const object = `${run}-own-${index}`
  const collection = collectionPath(kind, namespace)
  const created = await connection.ask(
    requestText(address, {
      method: 'POST',
      path: collection,
      body: objectText(kind, { object, counter: '0000000000' }),
    }),
    { keepBody: true },
  )
  expectStatus(created, 201)
  // The creator owns the object: an apply has to take it over once.
  const query = operation === 'ssa' ? '?fieldManager=bench&force=true' : ''
  const text = requestText(address, { path: `${collection}/${object}${query}`, ...partsOf(job, object) })
  const template = new RequestTemplate(text)
  return operation === 'get' ? getStep(template) : writeStep(template, versionIn(created.body))
}

function partsOf(
  { place: { kind }, operation }: RequestsJob,
  object: string,
): { method: string; body?: string; contentType?: string } {
  switch (operation) {
    case 'get':
      return { method: 'GET' }
    case 'update':
      return { method: 'PUT', body: objectText(kind, { object, counter: slots.counter, version: slots.version }) }
    case 'merge patch':
      return { method: 'PATCH', body: patchText(kind, slots.counter), contentType: 'application/merge-patch+json' }
    case 'strategic patch':
      return {
        method: 'PATCH',
        body: patchText(kind, slots.counter),
        contentType: 'application/strategic-merge-patch+json',
      }
    case 'ssa':
      return {
        method: 'PATCH',
        body: objectText(kind, { object, counter: slots.counter }),
        contentType: 'application/apply-patch+yaml',
      }
    case 'create':
      throw new RangeError('creating has no object of its own')
  }
}

function getStep(template: RequestTemplate): Step {
  return {
    keepBody: false,
    next: () => template.bytes,
    check: (response) => {
      expectStatus(response, 200)
      if (response.bodyBytes < objectBytes) throw new Error(`an object of ${response.bodyBytes} bytes came back`)
    },
  }
}

function writeStep(template: RequestTemplate, firstVersion: bigint): Step {
  let version = firstVersion
  let counter = 0
  return {
    keepBody: true,
    next: () => {
      template.setVersion(String(version))
      template.setNumber('counter', ++counter)
      return template.bytes
    },
    check: (response) => {
      expectStatus(response, 200)
      const newer = versionIn(response.body)
      if (newer <= version) throw new Error(`version ${newer} followed ${version}`)
      version = newer
    },
  }
}

/** The expected status of each operation. */
export function expectStatus({ status, body }: Response, expected: number): void {
  if (status !== expected)
    throw new Error(`status ${status} instead of ${expected}${body ? `: ${body.toString('utf8', 0, 500)}` : ''}`)
}

/** The only resourceVersion in the body of an object. */
function versionIn(body: Buffer | undefined): bigint {
  const [, version] = /"resourceVersion":\s*"(\d+)"/.exec(body?.toString('latin1') ?? '') ?? []
  if (version === undefined) throw new Error(`no resourceVersion in ${body?.toString('utf8', 0, 200)}`)
  return BigInt(version)
}
