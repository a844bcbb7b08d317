/**
 * A server under load, ours or the peer, and the requests that prepare it.
 */
import http from 'node:http'
import https from 'node:https'
import { collectionPath, definition, definitionsPath } from './objects.ts'
import type { KindName } from './objects.ts'
import type { Address } from './load/jobs.ts'

export interface Target {
  readonly name: string
  readonly address: Address
  /** Its known processes on this machine. */
  readonly processIds: readonly number[]
  readonly kinds: readonly KindName[]
}

export interface Reply {
  readonly status: number
  readonly body: string
}

/** One request on its own connection. */
export function call(
  { url, token, caPem }: Address,
  method: string,
  { path, body }: { path: string; body?: unknown },
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const trust = caPem === undefined ? { rejectUnauthorized: false } : { ca: caPem }
    const headers = {
      authorization: `Bearer ${token}`,
      'user-agent': 'evenkeel-bench',
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const { request } = url.startsWith('https:') ? https : http
    request(new URL(path, url), { method, headers, agent: false, ...trust }, (response) => {
      let text = ''
      response
        .setEncoding('utf8')
        .on('data', (piece: string) => {
          text += piece
        })
        .on('error', reject)
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: text })
      })
    })
      .on('error', reject)
      .end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** Creates missing namespaces. */
export async function ensureNamespaces(address: Address, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const { status, body } = await call(address, 'POST', {
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    })
    if (status !== 201 && status !== 409) throw new Error(`namespace ${name} at ${address.url}: ${status} ${body}`)
  }
}

/** The kinds to load a server with: the custom resource if the server accepts the CRD and serves it. */
export async function kindsOf(address: Address): Promise<readonly KindName[]> {
  const { status } = await call(address, 'POST', { path: definitionsPath, body: definition })
  if (status !== 201 && status !== 409) return ['configmap']
  for (let attempt = 0; attempt < 50; attempt++) {
    const list = await call(address, 'GET', { path: `${collectionPath('custom', 'default')}?limit=1` })
    if (list.status === 200) return ['configmap', 'custom']
    await new Promise((later) => {
      setTimeout(later, 100)
    })
  }
  return ['configmap']
}

/** The number of objects in a collection. */
export async function countObjects(address: Address, kind: KindName, namespace: string): Promise<number> {
  const { status, body } = await call(address, 'GET', { path: `${collectionPath(kind, namespace)}?limit=1` })
  if (status === 404) return 0
  if (status !== 200) throw new Error(`${kind} of ${namespace} at ${address.url}: ${status} ${body}`)
  const list = JSON.parse(body) as { metadata?: { remainingItemCount?: number }; items?: readonly unknown[] }
  return (list.items?.length ?? 0) + (list.metadata?.remainingItemCount ?? 0)
}
