/** The subresources `exec`, `attach` and `log` of Containers through the server, on a runtime in memory. */
import { refTo, type RemoteCommand, type RemoteCommandOptions } from 'evenkeel/client'
import { describe, expect, test } from 'vitest'
import { Container } from './container-kind.ts'
import { isReady, phaseIs, startContainers, type ContainerPlane } from './container-plane.fixture.ts'

const web = refTo(Container, { name: 'web', namespace: 'default' })
const sh = (script: string): object => ({ image: 'app:1', command: ['sh', '-c', script] })

async function startWeb(spec: object = sh('echo listening; sleep 1000')): Promise<ContainerPlane> {
  const world = await startContainers()
  await world.create('web', spec)
  await world.until('web', isReady)
  return world
}

const exec = (
  { client }: ContainerPlane,
  command: readonly string[],
  options: RemoteCommandOptions = {},
): Promise<RemoteCommand> => client.subresource('exec').connect(web, { command, ...options })

async function textOf(output: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of output) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

describe('exec of a Container', () => {
  test('runs in it; both outputs and the exit code come back', async () => {
    const command = await exec(await startWeb(), ['sh', '-c', 'echo out; echo err >&2; exit 7'])
    const outputs = Promise.all([textOf(command.stdout), textOf(command.stderr)])
    expect(await command.result).toEqual({ exitCode: 7 })
    expect(await outputs).toEqual(['out\n', 'err\n'])
  })

  test('stdin reaches the command, and its end as well', async () => {
    const command = await exec(await startWeb(), ['cat'], { stdin: true })
    const output = textOf(command.stdout)
    await command.stdin.write(Buffer.from('to and '))
    await command.stdin.write(Buffer.from('fro'))
    command.stdin.end()
    expect(await command.result).toEqual({ exitCode: 0 })
    expect(await output).toBe('to and fro')
  })

  test('W47: a terminal has one output and the size of the client', async () => {
    const world = await startWeb()
    const command = await exec(world, ['sh'], { stdin: true, tty: true })
    let shown = ''
    const reading = (async () => {
      for await (const piece of command.stdout) shown += Buffer.from(piece).toString()
    })()
    command.resize({ width: 100, height: 40 })
    await world.plane.until(
      async () => {
        await command.stdin.write(Buffer.from('stty size\n'))
        return shown.includes('40 100\n')
      },
      { timeoutMs: 60_000 },
    )
    await command.stdin.write(Buffer.from('echo problem >&2\nexit 3\n'))
    expect(await command.result).toEqual({ exitCode: 3 })
    await reading
    expect(shown).toContain('problem\n')
  })

  test('needs a command, a program of the image, a container that runs and a runtime that answers', async () => {
    const world = await startWeb()
    const refusal = async (command: readonly string[]): Promise<unknown> =>
      exec(world, command).then(({ result }) => result)
    await expect(refusal([])).rejects.toThrow('exec needs a command')
    await expect(refusal(['no-such-program'])).rejects.toThrow(
      'the command cannot be started (CommandNotFound): exec: "no-such-program"',
    )
    world.runtime.setPaused((await world.get('web')).status?.run?.containerName ?? '', true)
    await expect(refusal(['true'])).rejects.toThrow('container web is paused: unpause it')
    world.runtime.setPaused((await world.get('web')).status?.run?.containerName ?? '', false)
    await world.patch('web', { running: false })
    await world.until('web', phaseIs('Stopped'))
    await expect(refusal(['true'])).rejects.toThrow('container web does not run (Stopped): start it first')
    world.runtime.setAsleep(true)
    await expect(refusal(['true'])).rejects.toThrow('the container runtime does not answer')
  })

  test('a container without the uid of the object is not one of it', async () => {
    const world = await startWeb()
    const { containerName = '' } = (await world.get('web')).status?.run ?? {}
    const plan = world.runtime.planOf(containerName)
    await world.patch('web', { running: false })
    await world.until('web', phaseIs('Stopped'))
    if (plan) world.runtime.addStranger({ ...plan, labels: {}, name: 'stranger' })
    await expect((await exec(world, ['true'])).result).rejects.toThrow('does not run')
  })
})

test('attach of a Container is refused, with what to use instead', async () => {
  const { client } = await startWeb()
  await expect((await client.subresource('attach').connect(web)).result).rejects.toThrow(
    'container web has no terminal and no stdin: use exec, or follow its log',
  )
})

describe('the log of a Container', () => {
  test('is read through the server, whole, its last lines, or its first bytes', async () => {
    const { client } = await startWeb(sh('echo one; echo two >&2; sleep 1000'))
    const read = (parameters: Record<string, string | number>): Promise<string> =>
      client.subresource('log').text(web, { parameters })
    expect(await read({})).toBe('one\ntwo\n')
    expect(await read({ tailLines: 1 })).toBe('two\n')
    expect(await read({ limitBytes: 5 })).toBe('one\nt')
    await expect(read({ previous: 'true' })).rejects.toThrow('Container web has a log of its last run only (1)')
  })

  test('is followed until its container ends', async () => {
    const { client, plane } = await startWeb({
      ...sh('echo one; sleep 5; echo two; sleep 5; echo three'),
      restart: { policy: 'Never' },
    })
    let [text, isOver] = ['', false]
    const following = (async () => {
      for await (const piece of client.subresource('log').stream(web, { parameters: { follow: true } })) text += piece
      isOver = true
    })()
    await plane.until(() => text === 'one\n')
    await plane.advance(5000)
    await plane.until(() => text === 'one\ntwo\n')
    expect(isOver).toBe(false)
    await plane.advance(5000)
    await following
    expect(text).toBe('one\ntwo\nthree\n')
  })
})
