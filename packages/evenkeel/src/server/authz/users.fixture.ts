/**
 * A server and clients of several users, in process.
 */
import type { WireRequest } from '#wire'
import { TestServer } from '../client.fixture.ts'
import type { User } from '../request-context.ts'
import type { ServerOptions } from '../server-options.ts'

export const rbac = '/apis/rbac.authorization.k8s.io/v1'

interface Answered {
  readonly status: number
  /** Of an error. */
  readonly message: string
  readonly json: Record<string, unknown>
}

const types: Readonly<Record<string, string>> = {
  PATCH: 'application/merge-patch+json',
  APPLY: 'application/apply-patch+yaml',
}

/** Sends a request as one user; `APPLY` is a server-side apply patch. */
export type Caller = (method: string, target: string, body?: unknown) => Promise<Answered>

export interface Company extends AsyncDisposable {
  readonly server: TestServer
  readonly admin: Caller
  as(name: string, groups?: readonly string[]): Caller
}

export async function startCompany(options: ServerOptions = {}): Promise<Company> {
  const server = await TestServer.start(options)
  const as = (user: User): Caller => {
    const transport = server.server.as(user)
    return async (method, target, body) => {
      const type = types[method] ?? 'application/json'
      const request: WireRequest = {
        method: method === 'APPLY' ? 'PATCH' : method,
        target,
        headers: body === undefined ? {} : { 'content-type': type },
        signal: new AbortController().signal,
        ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
      }
      const response = await transport(request)
      const bytes =
        response.body instanceof Uint8Array
          ? response.body
          : Array.isArray(response.body)
            ? Buffer.concat(response.body as Uint8Array[])
            : Buffer.alloc(0)
      const text = Buffer.from(bytes).toString()
      const json = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {}
      return { status: response.status, message: typeof json['message'] === 'string' ? json['message'] : '', json }
    }
  }
  return {
    server,
    admin: as({ name: 'root', groups: ['system:masters'] }),
    as: (name, groups = []) => as({ name, groups: [...groups, 'system:authenticated'] }),
    [Symbol.asyncDispose]: () => server.server.stop(),
  }
}
