/**
 * The page at the address of the router: the Routes and Apps with their states, and commands to try.
 *
 *   GET /        the page for a browser; other clients get 503, as for every hostname without a Route
 *   GET /state   what it shows
 *
 * Invariant: only a request that names this machine gets any of it. For another Host there is one line of text, which
 * names no object: a web page whose hostname resolves to this machine (DNS rebinding) learns nothing.
 */
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { findCondition } from 'evenkeel'
import type { Condition, KubeObject } from 'evenkeel'
import type { Manager } from 'evenkeel/controller'
import { acceptsHtml, isLocalHost, refuseForeign, renderPage } from 'evenkeel/unstable/base'
import { App, Route } from '../kinds.ts'

interface ShownState {
  readonly level: 'ok' | 'waiting' | 'unknown'
  readonly text: string
}

export interface RouterState {
  readonly routes: readonly {
    readonly name: string
    readonly namespace: string
    readonly state: ShownState
    readonly hostnames: readonly string[]
    /** `web`, or `web at /api`. */
    readonly targets: readonly string[]
  }[]
  readonly apps: readonly {
    readonly name: string
    readonly namespace: string
    readonly state: ShownState
    readonly isRunning: boolean
    readonly port: number
    readonly pid: number | undefined
    /** The Routes that use it. */
    readonly usedBy: readonly string[]
  }[]
}

/** What the page shows, from the cache of the manager. */
export function routerState(cache: Manager['cache']): RouterState {
  return {
    routes: byName(cache.list(Route)).map((route) => ({
      ...identity(route),
      state: stateOf(route),
      hostnames: route.spec.hostnames,
      targets: route.spec.targetRefs.map(({ name, pathPrefix = '/' }) =>
        pathPrefix === '/' ? name : `${name} at ${pathPrefix}`,
      ),
    })),
    apps: byName(cache.list(App)).map((app) => ({
      ...identity(app),
      state: stateOf(app),
      isRunning: app.spec.running ?? true,
      port: app.spec.port,
      pid: app.status?.pid,
      usedBy: Object.entries(app.metadata.annotations ?? {})
        .filter(([key]) => key.startsWith('used-by.multi.ch/'))
        .map(([, value]) => value.split(' ').slice(0, 2).join(' ')),
    })),
  }
}

function byName<T extends KubeObject>(objects: readonly T[]): readonly T[] {
  const key = ({ metadata: { namespace = '', name = '' } }: T): string => `${namespace}/${name}`
  return objects.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
}

function identity({ metadata: { name = '', namespace = 'default' } }: KubeObject): { name: string; namespace: string } {
  return { name, namespace }
}

interface Reporting extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] }
}

function stateOf({ metadata, status }: Reporting): ShownState {
  if (metadata.deletionTimestamp !== undefined) return { level: 'waiting', text: 'is being deleted' }
  const ready = findCondition(status?.conditions, 'Ready')
  if (!ready) return { level: 'unknown', text: 'not reconciled yet' }
  if (ready.status === 'True') return { level: 'ok', text: 'ready' }
  if (ready.reason === 'Stopped') return { level: 'unknown', text: 'stopped' }
  return { level: 'waiting', text: `waits for ${ready.message || ready.reason}` }
}

/** Answers a request that no Route leads anywhere. */
export async function answerUnrouted(
  request: IncomingMessage,
  response: ServerResponse,
  state: () => RouterState,
): Promise<void> {
  const { host = '' } = request.headers
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  if (!isLocalHost(host)) return unrouted(response, host)
  const refusal = refuseForeign(request)
  if (refusal) return sendText(response, refusal.status, refusal.message)
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (isRead && pathname === '/state') return sendState(response, state())
  if (isRead && pathname === '/' && acceptsHtml(request)) return sendPage(response)
  unrouted(response, host)
}

function unrouted(response: ServerResponse, host: string): void {
  const hostname = JSON.stringify(host.replace(/:\d+$/, ''))
  sendText(response, 503, `no ready Route has the hostname ${hostname}; list them with: npx evenkeel get routes`)
}

export function sendText(response: ServerResponse, status: number, text: string): void {
  if (!response.headersSent)
    response.writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
  response.end(`${text}\n`)
}

function sendState(response: ServerResponse, state: RouterState): void {
  response.writeHead(200, {
    'content-type': 'application/json',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  })
  response.end(JSON.stringify(state))
}

async function sendPage(response: ServerResponse): Promise<void> {
  const [body = '', script = ''] = await Promise.all(
    ['page.html', 'page.js'].map((name) => readFile(new URL(name, import.meta.url), 'utf8')),
  )
  const { html, headers } = renderPage({ title: 'Router: Routes and Apps', body, script })
  response.writeHead(200, headers)
  response.end(html)
}
