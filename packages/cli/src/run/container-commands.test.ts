/** exec, attach and logs of Containers, on a container runtime in memory. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWorkloads, type WorkloadsFolder } from './run.fixture.ts'

let world: WorkloadsFolder
beforeAll(async () => {
  world = await startWorkloads()
  const restart = { policy: 'Never' }
  const script = 'echo listening; sleep 0.2; echo done; sleep 1000'
  await world.apply({ web: { image: 'app:1', command: ['sh', '-c', script], restart } }, 'Container')
  expect(await world.type(['wait', 'web', '--for=Ready', '--timeout', '60s'])).toMatchObject({ code: 0 })
})
afterAll(() => world.stop())

describe('a Container', () => {
  test('exec runs a command in it, passes input on, and exits as the command does', async () => {
    const words = ['exec', 'container/web', '--', 'sh', '-c', 'echo inside; echo problem >&2; exit 4']
    expect(await world.type(words)).toEqual({ code: 4, out: 'inside\n', err: 'problem\n' })
    expect(await world.type(['exec', '-i', 'container/web', '--', 'cat'], { stdin: 'abc' })).toEqual({
      code: 0,
      out: 'abc',
      err: '',
    })
    expect((await world.type(['exec', 'container/web', '--', 'no-such-program'])).err).toContain(
      'the command cannot be started (CommandNotFound)',
    )
  })

  test('attach is refused, with what to use instead', async () => {
    const { code, err } = await world.type(['attach', 'container/web'])
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('container web has no terminal and no stdin: use exec, or follow its log'),
    ])
  })

  test('logs prints its output; -f follows it', async () => {
    const stop = new AbortController()
    let text = ''
    await world.type(['logs', '-f', 'container/web'], {
      signal: stop.signal,
      onOut: (piece: string) => {
        text += piece
        if (text.includes('done\n')) stop.abort()
      },
    })
    expect(text).toBe('listening\ndone\n')
    expect(await world.type(['logs', 'container/web', '--tail', '1'])).toEqual({ code: 0, out: 'done\n', err: '' })
  })
})
