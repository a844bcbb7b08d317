/**
 * The HTTP endpoint of the cloud, for people: lists and deletes accounts.
 *
 *     curl URL                        lists accounts
 *     curl -X DELETE URL/NAME         deletes an account without the controller
 */
import { createServer } from 'node:http'
import type { CloudInMemory } from './cloud-in-memory.ts'

export async function serveCloud(
  cloud: CloudInMemory,
  { port = 0, signal }: { port?: number; signal: AbortSignal },
): Promise<string> {
  const server = createServer(({ method, url = '/' }, response) => {
    const name = decodeURIComponent(url.slice(1))
    if (method === 'DELETE') cloud.deleteAccount(name)
    const accounts = Object.fromEntries(
      [...cloud.accounts.keys()].flatMap((one) =>
        cloud.findAccount(one) ? [[one, { ...cloud.findAccount(one), grants: cloud.listGrants(one) }]] : [],
      ),
    )
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(`${JSON.stringify(accounts, undefined, 2)}\n`)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  signal.addEventListener(
    'abort',
    () => {
      server.close()
      server.closeAllConnections()
    },
    { once: true },
  )
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : port}`
}
