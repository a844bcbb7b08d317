import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { TestServer } from '../client.fixture.ts'

test('a server that has stopped has written every event', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-audit-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  const path = join(folder, 'audit.log')
  // Each event gets a file of its own, so that the last one takes several operations.
  const file = { path, bytesMax: 1 }
  const tested = await TestServer.start({ audit: { policy: { rules: [{ level: 'Metadata' }] }, file } })
  await tested.ask('GET', '/api/v1/namespaces/default', { headers: { 'audit-id': 'last' } })
  await tested.server.stop()
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ auditID: 'last', stage: 'ResponseComplete' })
})
