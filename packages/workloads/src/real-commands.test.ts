/** `exec`, `attach` and terminals on this machine, through the client and the server. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { RemoteCommand, RemoteCommandOptions } from 'evenkeel/client'
import { conditionOf, isReady, phaseIs, startReal } from './plane.fixture.ts'
import { systemTable } from './process-table.ts'
import { refTo } from 'evenkeel/client'
import { Process } from './process-kind.ts'

const table = systemTable()
const isAlive = (pid: number): boolean => table.find(pid) !== undefined
type World = Awaited<ReturnType<typeof startReal>>

const web = refTo(Process, { name: 'web', namespace: 'default' })

function connect(world: World, subresource: 'exec' | 'attach', options: RemoteCommandOptions): Promise<RemoteCommand> {
  return world.client.subresource(subresource).connect(web, options)
}

/** Runs a script with sh beside the process. */
const sh = (world: World, script: string, options: RemoteCommandOptions = {}): Promise<RemoteCommand> =>
  connect(world, 'exec', { command: ['sh', '-c', script], ...options })

/** What a command shows, as it comes. */
class Screen {
  text = ''
  readonly isOver: Promise<void>
  #wake: () => void = () => undefined

  constructor(output: AsyncIterable<Uint8Array>) {
    this.isOver = this.#read(output)
  }

  async #read(output: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const piece of output) {
      this.text += Buffer.from(piece).toString()
      this.#wake()
    }
  }

  async until(shown: RegExp): Promise<void> {
    while (!shown.test(this.text))
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
  }
}

async function startWeb(spec: object = { command: ['sleep', '1000'] }): Promise<World> {
  const world = await startReal()
  await world.create('web', spec)
  await world.until('web', isReady)
  return world
}

describe('exec of a Process', () => {
  test('runs beside it with its directory and environment; stdin is closed, and the exit code comes back', async () => {
    const world = await startWeb({ command: ['sleep', '1000'], env: [{ name: 'GREETING', value: 'hello' }] })
    const command = await sh(world, 'cat; echo "$GREETING $(pwd)"; echo "$EVENKEEL_RUN"; echo problem >&2; exit 7')
    const [out, err] = [new Screen(command.stdout), new Screen(command.stderr)]
    expect(await command.result).toEqual({ exitCode: 7 })
    await Promise.all([out.isOver, err.isOver])
    // The watchdog ends everything with a mark that begins with that of the session.
    const { uid } = (await world.get('web')).metadata
    const [greeting, mark = ''] = out.text.split('\n')
    expect([greeting, err.text]).toEqual([`hello ${world.folder}`, 'problem\n'])
    expect(mark).toMatch(new RegExp(`^[0-9a-f]{8}/session/${uid}/1/exec-1$`))
  })

  test('stdin reaches it, and its end as well', async () => {
    const world = await startWeb()
    const command = await sh(world, 'tr a-z A-Z', { stdin: true, stderr: false })
    const out = new Screen(command.stdout)
    await command.stdin.write(Buffer.from('some '.repeat(100_000)))
    command.stdin.end()
    expect(await command.result).toEqual({ exitCode: 0 })
    await out.isOver
    expect(out.text).toBe('SOME '.repeat(100_000))
  })

  test('nothing of it is left when the client has disconnected', async () => {
    const world = await startWeb()
    const command = await sh(world, 'trap "" HUP TERM; setsid sleep 1001 & echo $$ $!; while :; do sleep 1; done')
    const out = new Screen(command.stdout)
    await out.until(/\d+ \d+\n/)
    const pids = out.text.split(/\s+/).filter(Boolean).map(Number)
    expect(pids.map(isAlive)).toEqual([true, true])
    command.close()
    await world.plane.until(() => !pids.some(isAlive), { timeoutMs: 60_000 })
    await expect(command.result).rejects.toThrow('closed')
  })

  test('it ends with the process, and what it left in the background with itself', async () => {
    const world = await startWeb()
    const first = await sh(world, 'sleep 1002 & echo $!', { stderr: false })
    const out = new Screen(first.stdout)
    expect(await first.result).toEqual({ exitCode: 0 })
    await out.isOver
    expect(isAlive(Number(out.text))).toBe(false)
    const second = await sh(world, 'echo $$; exec sleep 1003')
    const shown = new Screen(second.stdout)
    await shown.until(/\n/)
    await world.patch('web', { running: false })
    await world.until('web', phaseIs('Stopped'))
    expect(isAlive(Number(shown.text))).toBe(false)
  })

  test('is refused without a process, without a program, and for an object that does not exist', async () => {
    const world = await startWeb()
    const missing = await connect(world, 'exec', { command: ['no-such-program'] })
    await expect(missing.result).rejects.toThrow('the command cannot be started (NotFound): no-such-program')
    await expect((await connect(world, 'exec', {})).result).rejects.toThrow('exec needs a command')
    await world.patch('web', { running: false })
    await world.until('web', phaseIs('Stopped'))
    await expect((await sh(world, 'ls')).result).rejects.toThrow('process web does not run (Stopped): start it first')
    await expect(
      world.client.subresource('exec').connect(refTo(Process, { name: 'none', namespace: 'default' }), {}),
    ).rejects.toThrow('not found')
  })
})

describe.skipIf(!existsSync('/usr/bin/script'))('W47: a terminal', () => {
  const shell = `test -t 0 && test -t 1 && echo terminal; trap 'echo size $(stty size)' WINCH; trap 'echo int; exit 9' INT; while :; do sleep 0.1; done`

  test('W47: a process with a terminal sees it; keys, Ctrl-C and resizes reach it, and the log has all', async () => {
    const world = await startWeb({ shell, terminal: true, restart: { policy: 'Never' } })
    const command = await connect(world, 'attach', { tty: true, stdin: true })
    const out = new Screen(command.stdout)
    await command.stdin.write(Buffer.from('typed'))
    await out.until(/typed/)
    command.resize({ width: 101, height: 41 })
    await out.until(/size 41 101\r\n/)
    await command.stdin.write(Uint8Array.of(3))
    expect(await command.result).toEqual({ exitCode: 9 })
    const { status } = await world.until('web', phaseIs('Failed'))
    expect(status?.run?.exitCode).toBe(9)
    const log = readFileSync(status?.run?.logFile ?? '', 'utf8')
    for (const text of ['terminal\r\n', 'typed', 'size 41 101\r\n', 'int\r\n']) expect(log).toContain(text)
  })

  test('W47: detaching leaves the process, and a stop gives its program the time of the grace period', async () => {
    const script = `trap 'echo bye; sleep 0.3; echo gone; exit 4' TERM; echo ready; while :; do sleep 0.1; done`
    const world = await startWeb({
      shell: script,
      terminal: true,
      probes: { readiness: { logLine: { contains: 'ready' }, periodSeconds: 0.05 } },
    })
    const command = await connect(world, 'attach', { tty: true, stdin: true })
    command.close()
    const { status } = await world.get('web')
    expect(isAlive(status?.run?.pid ?? 0)).toBe(true)
    await world.patch('web', { running: false })
    const stopped = await world.until('web', phaseIs('Stopped'))
    expect(stopped.status?.run?.exitCode).toBe(4)
    expect(readFileSync(status?.run?.logFile ?? '', 'utf8')).toMatch(/bye\r\n[^]*gone\r\n$/)
  })

  test('W47: exec with a terminal', async () => {
    const world = await startWeb()
    const command = await sh(world, shell, { tty: true, stdin: true })
    const out = new Screen(command.stdout)
    await out.until(/terminal\r\n/)
    command.resize({ width: 90, height: 30 })
    await out.until(/size 30 90\r\n/)
    await command.stdin.write(Uint8Array.of(3))
    expect(await command.result).toEqual({ exitCode: 9 })
    await expect((await connect(world, 'attach', {})).result).rejects.toThrow('process web has no terminal')
  })
})

test('W47: without the program script a terminal is refused with the package to install', async () => {
  const world = await startReal({ terminals: { program: 'no-such-script' } })
  await world.create('web', { command: ['sh'], terminal: true })
  const object = await world.until('web', (one) => conditionOf(one, 'Started')?.reason === 'NoTerminal')
  expect(conditionOf(object, 'Started')?.message).toContain('install it (Debian: bsdutils')
})
