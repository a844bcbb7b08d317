/**
 * A server that stops and comes back with the same objects at the same address, twice, under a manager that goes
 * on: over HTTPS and a store on disk, so it takes real time.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Client, loadConfig } from '#client'
import { Manager } from '#manager'
import { openDataPlane, type DataPlane } from '../data-plane.ts'
import { Note } from '../world.fixture.ts'

async function answers(server: DataPlane, name: string): Promise<void> {
  const client = new Client({ transport: server.plane.transport, namespace: 'default' })
  await client.create(Note, { metadata: { name, namespace: 'default' }, spec: { text: name } })
  for await (const event of client.watch(Note, { namespace: 'default', fieldSelector: { 'metadata.name': name } })) {
    if ('object' in event && (event.object as { status?: { text?: string } }).status?.text === name) return
  }
}

test('a manager survives restarts of its server', async () => {
  const data = mkdtempSync(join(tmpdir(), 'evenkeel-restart-'))
  const start = (port: number): Promise<DataPlane> => openDataPlane({ folder: data, port, kinds: [Note] })
  let server = await start(0)
  try {
    const port = Number(new URL(server.url).port)
    const manager = new Manager({
      name: 'tester',
      config: await loadConfig({ kubeconfig: server.kubeconfig }),
      leaderElection: { leaseMs: 4000, renewMs: 3000, retryMs: 200, thread: false },
    })
    const runs = new Map<string, number>()
    manager.addController({
      for: Note,
      reconcile(note, { status }) {
        runs.set(note.metadata.name, (runs.get(note.metadata.name) ?? 0) + 1)
        status.set({ text: note.spec.text ?? '' })
      },
    })
    const stopping = new AbortController()
    const running = manager.run(stopping.signal)
    await answers(server, 'note-0')
    for (let round = 1; round <= 2; round++) {
      await server.stop()
      server = await start(port)
      await answers(server, `note-${round}`)
    }
    expect([...runs.keys()].sort()).toEqual(['note-0', 'note-1', 'note-2'])
    stopping.abort()
    await running
  } finally {
    await server.stop()
    rmSync(data, { recursive: true })
  }
})
