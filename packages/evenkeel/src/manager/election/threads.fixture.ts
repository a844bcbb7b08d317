/**
 * A lease server in a thread of its own, so that it answers while the test's thread stands still; and workers from the
 * sources, on every version of Node.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ConnectionConfig } from '#client'
import type { RenewalData } from './renewal-thread.ts'

/** One lease over HTTP; anything but a 0 in `mode` makes it answer 500. Says by `token` which callers are let in. */
const serverCode = `
const { createServer } = require('node:http')
const { parentPort, workerData } = require('node:worker_threads')
const mode = new Int32Array(workerData.mode)
let lease, version = 0, token = workerData.token
parentPort.on('message', (message) => { token = message.token })
const fail = (response, code, reason) => { response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code, message: reason, details: { name: 'it', group: 'coordination.k8s.io', kind: 'leases' } })) }
const server = createServer((request, response) => {
  let text = ''
  request.on('data', (piece) => { text += piece })
  request.on('end', () => {
    if (Atomics.load(mode, 0) !== 0) return fail(response, 500, 'InternalError')
    if (token && request.headers.authorization !== 'Bearer ' + token) return fail(response, 401, 'Unauthorized')
    if (request.method !== 'POST' && !lease) return fail(response, 404, 'NotFound')
    if (request.method === 'POST' && lease) return fail(response, 409, 'AlreadyExists')
    if (request.method !== 'GET') {
      const sent = JSON.parse(text)
      if (request.method === 'PUT' && sent.metadata.resourceVersion !== lease.metadata.resourceVersion) return fail(response, 409, 'Conflict')
      lease = { ...sent, metadata: { ...sent.metadata, uid: 'u', resourceVersion: String(++version) } }
      Atomics.store(mode, 1, version)
      Atomics.notify(mode, 1)
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(lease))
  })
})
server.listen(0, '127.0.0.1', () => { parentPort.postMessage(server.address().port) })
`

export interface LeaseHost {
  readonly config: ConnectionConfig
  /** Cell 0: set to break it. Cell 1: how often the lease was written. */
  readonly mode: Int32Array
  readonly setToken: (token: string) => void
  readonly holder: () => Promise<string>
  readonly close: () => Promise<void>
}

export async function startLeaseHost({ token = '' }: { token?: string } = {}): Promise<LeaseHost> {
  const memory = new SharedArrayBuffer(8)
  const worker = new Worker(serverCode, { eval: true, workerData: { mode: memory, token } })
  const [port] = (await once(worker, 'message')) as [number]
  const server = `http://127.0.0.1:${port}`
  let current = token
  return {
    config: { origin: 'a test', server, namespace: 'default' },
    mode: new Int32Array(memory),
    setToken(next) {
      current = next
      worker.postMessage({ token: next })
    },
    async holder() {
      const response = await fetch(`${server}/apis/coordination.k8s.io/v1/namespaces/default/leases/it`, {
        headers: { authorization: `Bearer ${current}` },
      })
      const { spec } = (await response.json()) as { spec?: { holderIdentity?: string } }
      return spec?.holderIdentity ?? 'nobody'
    },
    close: async () => {
      await worker.terminate()
    },
  }
}

/** Node before 22.18 needs help with types. */
export function startFromSource(entry: URL, workerData: RenewalData): Worker {
  const code = `import(${JSON.stringify(import.meta.resolve('tsx/esm/api'))}).then(({ register }) => { register(); return import(${JSON.stringify(entry.href)}) })`
  return new Worker(code, { eval: true, execArgv: ['--conditions=source'], workerData })
}
