/**
 * A package registry on loopback: packed packages of this repository, and a redirect for every other package to the
 * registry that npm uses. So a test can run `npm install evenkeel` as it is printed on a page.
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

/** What `npm pack --json` says of a package. */
export interface PackedPackage {
  readonly name: string
  readonly version: string
  readonly filename: string
  readonly integrity: string
  readonly shasum: string
}

export interface Registry {
  readonly url: string
  stop(): void
}

/** @param folder the folder of the packed files */
export async function startRegistry(packed: readonly PackedPackage[], folder: string): Promise<Registry> {
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim().replace(/\/$/, '')
  const documents = new Map(packed.map((each) => [`/${each.name}`, () => packument(each, folder, url)]))
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/')
    const file = packed.find(({ filename }) => path === `/-/${filename}`)
    const document = documents.get(path)
    if (file) createReadStream(join(folder, file.filename)).pipe(response)
    else if (document) response.setHeader('content-type', 'application/json').end(JSON.stringify(document()))
    else response.writeHead(307, { location: `${upstream}${request.url ?? ''}` }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** The document of a package with one version. */
function packument({ name, version, filename, integrity, shasum }: PackedPackage, folder: string, url: string): object {
  const text = execFileSync('tar', ['-xOf', join(folder, filename), 'package/package.json'], { encoding: 'utf8' })
  const dist = { tarball: `${url}/-/${filename}`, integrity, shasum }
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...(JSON.parse(text) as object), dist } } }
}
