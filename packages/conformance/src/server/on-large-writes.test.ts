import { expect, test } from 'vitest'
import { judge } from './judge.fixture.ts'
import { evenkeelWithLargeWrites, overHttpsLacks } from './targets/evenkeel.ts'

// The server in the thread is another one: it must answer like the first.
judge('evenkeel with large writes', { start: evenkeelWithLargeWrites, lacks: overHttpsLacks })

test('a write of this target is handled in the thread', async () => {
  const target = await evenkeelWithLargeWrites()
  const signal = new AbortController().signal
  const send = async (method: string, path: string, body?: string): Promise<string> => {
    const headers = { ...target.credentials, 'content-type': 'application/json' }
    const response = await target.send({
      method,
      target: path,
      headers,
      signal,
      ...(body !== undefined && { body: Buffer.from(body) }),
    })
    const pieces: Uint8Array[] = []
    for await (const piece of response.body) pieces.push(piece)
    return Buffer.concat(pieces).toString()
  }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
  await send('POST', '/api/v1/namespaces/default/configmaps', JSON.stringify(object))
  expect(await send('GET', '/metrics')).toContain('evenkeel_large_writes_total{place="thread"} 1\n')
  await target.stop()
})
