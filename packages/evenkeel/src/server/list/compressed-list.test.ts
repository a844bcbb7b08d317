import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { startServer } from '../server.ts'
import type { Server } from '../server-options.ts'

const path = '/api/v1/namespaces/default/configmaps'

interface Asked {
  readonly status: number
  readonly encoding: string | undefined
  readonly text: Buffer
}

async function ask(
  { transport }: Server,
  {
    method = 'GET',
    target,
    body,
    gzip = false,
    type = 'application/json',
  }: { method?: string; target: string; body?: unknown; gzip?: boolean; type?: string },
): Promise<Asked> {
  const headers = { 'content-type': type, ...(gzip && { 'accept-encoding': 'gzip' }) }
  const response = await transport({
    method,
    target,
    headers,
    signal: new AbortController().signal,
    ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
  })
  const pieces: Uint8Array[] = []
  if (response.body instanceof Uint8Array) pieces.push(response.body)
  else if (response.body) for await (const piece of response.body) pieces.push(piece)
  const encoding = response.headers['content-encoding']
  const bytes = Buffer.concat(pieces)
  return { status: response.status, encoding, text: encoding === 'gzip' ? gunzipSync(bytes) : bytes }
}

const object = (name: number, size: number): unknown => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `map-${name}`, labels: { parity: name % 2 === 0 ? 'even' : 'odd' } },
  data: { text: 'ä'.repeat(size), name: String(name) },
})

/** Asks in both ways and expects the same. */
async function compare(server: Server, query: string): Promise<Asked> {
  const plain = await ask(server, { target: `${path}${query}` })
  const packed = await ask(server, { target: `${path}${query}`, gzip: true })
  expect(packed.text.equals(plain.text)).toBe(true)
  expect(packed.status).toBe(plain.status)
  expect(packed.encoding).toBe(plain.text.byteLength < 128 * 1024 ? undefined : 'gzip')
  return packed
}

const change = fc.oneof(
  fc.record({
    kind: fc.constant('write' as const),
    name: fc.integer({ min: 0, max: 400 }),
    size: fc.integer({ min: 0, max: 1500 }),
  }),
  fc.record({ kind: fc.constant('remove' as const), name: fc.integer({ min: 0, max: 400 }), size: fc.constant(0) }),
)
const query = fc.constantFrom(
  '',
  '?limit=120',
  '?limit=300',
  '?labelSelector=parity=even',
  '?labelSelector=parity=odd&limit=150',
  '?fieldSelector=metadata.name!=map-7',
  '?resourceVersion=0',
)

test('a list in gzip is the list, after any changes, for any page and selector', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.array(change, { maxLength: 12 }), query), { minLength: 1, maxLength: 8 }),
      async (rounds) => {
        const server = await startServer()
        for (let name = 0; name < 300; name++)
          await ask(server, { method: 'POST', target: path, body: object(name, 600) })
        for (const [changes, wanted] of rounds) {
          for (const { kind, name, size } of changes) {
            if (kind === 'remove') await ask(server, { method: 'DELETE', target: `${path}/map-${name}` })
            else if (
              (await ask(server, { method: 'PUT', target: `${path}/map-${name}`, body: object(name, size) })).status ===
              404
            )
              await ask(server, { method: 'POST', target: path, body: object(name, size) })
          }
          await compare(server, wanted)
          await compare(server, '')
        }
        await server.stop()
      },
    ),
    { numRuns: 6 },
  )
})

test('a list in gzip follows its pages', async () => {
  const server = await startServer()
  for (let name = 0; name < 600; name++) await ask(server, { method: 'POST', target: path, body: object(name, 500) })
  const names: string[] = []
  let next = ''
  do {
    const { text } = await compare(server, `?limit=250${next}`)
    const list = JSON.parse(text.toString()) as {
      metadata: { continue?: string }
      items: { metadata: { name: string } }[]
    }
    names.push(...list.items.map(({ metadata: { name } }) => name))
    next = list.metadata.continue === undefined ? '' : `&continue=${encodeURIComponent(list.metadata.continue)}`
  } while (next !== '')
  expect(new Set(names).size).toBe(600)
  await server.stop()
})

test.each([
  ['nothing is remembered', { compressedListBytesMax: 0 }],
  ['little is remembered', { compressedListBytesMax: 20_000 }],
])('a list in gzip is the list when %s, also when many ask at once', async (_, options) => {
  const server = await startServer(options)
  for (let name = 0; name < 900; name++) await ask(server, { method: 'POST', target: path, body: object(name, 1000) })
  const plain = await ask(server, { target: path })
  const packed = await Promise.all(Array.from({ length: 4 }, () => ask(server, { target: path, gzip: true })))
  expect(packed.every(({ text, encoding }) => encoding === 'gzip' && text.equals(plain.text))).toBe(true)
  await server.stop()
})
