import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { TestServer } from '../client.fixture.ts'
import { HashChain, verifyAuditLog } from './hash-chain.ts'
import { auditBackups } from './rotating-file.ts'

let folder = ''
let path = ''

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-chain-'))
  path = join(folder, 'audit.log')
})

afterEach(() => rm(folder, { recursive: true }))

async function write(lines: readonly string[]): Promise<void> {
  await writeFile(path, lines.map((line) => `${line}\n`).join(''))
}

function sealed(key?: string): string[] {
  const chain = new HashChain({ key })
  return Array.from({ length: 5 }, (_, index) => chain.seal(JSON.stringify({ kind: 'Event', number: index })))
}

describe('row 30: a chained audit log', () => {
  test('row 30: is whole when nobody touched it, and each line is still JSON', async () => {
    const lines = sealed()
    await write(lines)
    expect(await verifyAuditLog([path])).toMatchObject({
      ok: true,
      lines: 5,
      first: { sequence: 1 },
      last: { sequence: 5 },
    })
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      kind: 'Event',
      number: 0,
      chain: expect.stringMatching(/^1 [0-9a-f]{64}$/) as unknown,
    })
  })

  const forgeries: Readonly<Record<string, (lines: string[]) => string[]>> = {
    'a changed line': (lines) => lines.with(2, (lines[2] ?? '').replace('"number":2', '"number":9')),
    'a removed line': (lines) => lines.toSpliced(2, 1),
    'a removed line, the later ones numbered anew': (lines) =>
      lines.toSpliced(2, 1).map((line, index) => line.replace(/"chain":"\d+ /, `"chain":"${index + 1} `)),
    'a removed beginning': (lines) => [...lines.slice(0, 1), ...lines.slice(2)],
    'an inserted line': (lines) => lines.toSpliced(2, 0, lines[1] ?? ''),
    'lines in another order': (lines) => lines.toSpliced(1, 2, lines[2] ?? '', lines[1] ?? ''),
    'a line without a link': (lines) => lines.with(3, '{"kind":"Event"}'),
    'a link of another line': (lines) =>
      lines.with(
        2,
        (lines[2] ?? '').replace(
          /"chain":"3 .{64}"/,
          '"chain":"3 0000000000000000000000000000000000000000000000000000000000000000"',
        ),
      ),
  }
  test.each(Object.entries(forgeries))('row 30: shows %s', async (_name, forge) => {
    await write(forge(sealed()))
    expect(await verifyAuditLog([path])).toMatchObject({ ok: false, problem: expect.stringContaining(path) as unknown })
  })

  test('row 30: with a key, nobody without it can write a chain that holds', async () => {
    await write(sealed('theirs'))
    expect(await verifyAuditLog([path], { key: 'ours' })).toMatchObject({ ok: false })
    await write(sealed())
    expect(await verifyAuditLog([path], { key: 'ours' })).toMatchObject({ ok: false })
    await write(sealed('ours'))
    expect(await verifyAuditLog([path], { key: 'ours' })).toMatchObject({ ok: true })
  })

  test('row 30: every write is in it, over restarts and rotation, with who did it', async () => {
    for (let start = 0; start < 2; start++) {
      const tested = await TestServer.start({
        audit: { file: { path, bytesMax: 3000, backupsMax: 50 }, chain: { key: 'ours' } },
      })
      for (let index = 0; index < 10; index++)
        await tested.ask('POST', '/api/v1/namespaces/default/configmaps', {
          body: { metadata: { name: `c${start}-${index}` } },
        })
      await tested.server.stop()
    }
    const files = [...(await auditBackups(path)), path]
    expect(files.length).toBeGreaterThan(3)
    expect(await verifyAuditLog(files, { key: 'ours' })).toMatchObject({ ok: true, first: { sequence: 1 } })
    const events = (await Promise.all(files.map((file) => readFile(file, 'utf8'))))
      .join('')
      .trimEnd()
      .split('\n')
      .map(
        (line) =>
          JSON.parse(line) as {
            verb: string
            user: { username: string }
            objectRef: { resource: string; name?: string }
          },
      )
    const made = events.filter(({ objectRef }) => objectRef.resource === 'configmaps')
    expect(made.map(({ verb, user }) => `${verb} ${user.username}`)).toEqual(Array(20).fill('create evenkeel-admin'))
    expect(new Set(made.map(({ objectRef }) => objectRef.name)).size).toBe(20)
  })
})
