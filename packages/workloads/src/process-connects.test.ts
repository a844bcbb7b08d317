import { ApiError } from 'evenkeel'
import { refTo, type RemoteCommand, type RemoteCommandOptions } from 'evenkeel/client'
import type { ConnectRequest, ConnectResult } from 'evenkeel/server'
import { expect, test } from 'vitest'
import type { CommandLaunch, Commands } from './commands.ts'
import { isReady, phaseIs, startSimulated, type SimulatedPlane } from './plane.fixture.ts'
import { Process } from './process-kind.ts'

/** Commands that do what a test says. */
class ScriptedCommands implements Commands {
  readonly launches: CommandLaunch[] = []
  answer: (request: ConnectRequest) => Promise<ConnectResult> = () => Promise.resolve({ exitCode: 5 })

  run(launch: CommandLaunch, request: ConnectRequest): Promise<ConnectResult> {
    this.launches.push(launch)
    return this.answer(request)
  }

  terminalOf(): undefined {
    return undefined
  }
}

const connect = (
  { client }: SimulatedPlane,
  subresource: 'exec' | 'attach',
  options: RemoteCommandOptions = {},
): Promise<RemoteCommand> =>
  client.subresource(subresource).connect(refTo(Process, { name: 'web', namespace: 'default' }), options)

async function startWeb(spec: object = {}): Promise<{ world: SimulatedPlane; commands: ScriptedCommands }> {
  const commands = new ScriptedCommands()
  const world = await startSimulated({ commands })
  await world.create('web', { command: ['serve'], cwd: 'site', env: [{ name: 'MODE', value: 'test' }], ...spec })
  await world.until('web', isReady)
  return { world, commands }
}

test('exec runs a command with the directory, the environment and the mark of the run', async () => {
  const { world, commands } = await startWeb()
  expect(await (await connect(world, 'exec', { command: ['ls', '-l'] })).result).toEqual({ exitCode: 5 })
  expect(commands.launches).toEqual([
    {
      command: ['ls', '-l'],
      cwd: '/app/site',
      env: { PATH: '/bin', HOME: '/root', MODE: 'test' },
      mark: expect.stringMatching(/\/session\/.+\/1$/) as string,
    },
  ])
})

test('exec has the values of variables that are elsewhere', async () => {
  const { world, commands } = await startWeb()
  await world.client.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'keys', namespace: 'default' },
    stringData: { token: 's3cret' },
  })
  await world.patch('web', { env: [{ name: 'TOKEN', valueFrom: { secret: { name: 'keys', key: 'token' } } }] })
  await world.until('web', (object) => isReady(object) && object.status?.run?.number === 2)
  await (
    await connect(world, 'exec', { command: ['env'] })
  ).result
  expect(commands.launches[0]?.env).toMatchObject({ TOKEN: 's3cret' })
})

test('a refusal is a Status, and without a run nothing is started', async () => {
  const { world, commands } = await startWeb()
  commands.answer = () => Promise.reject(new ApiError('BadRequest', 'no such program'))
  await expect((await connect(world, 'exec', { command: ['ls'] })).result).rejects.toThrow('no such program')
  await world.patch('web', { running: false })
  await world.until('web', phaseIs('Stopped'))
  await expect((await connect(world, 'exec', { command: ['ls'] })).result).rejects.toThrow(
    'process web does not run (Stopped): start it first',
  )
  expect(commands.launches).toHaveLength(1)
})

test('the signal of a command aborts when its run ends', async () => {
  const { world, commands } = await startWeb({ restart: { policy: 'Never' } })
  const aborted = new Promise<string>((resolve) => {
    commands.answer = ({ signal }) =>
      new Promise((end) => {
        signal.addEventListener('abort', () => {
          resolve((signal.reason as Error).message)
          end({ exitCode: 129 })
        })
      })
  })
  const command = await connect(world, 'exec', { command: ['ls'] })
  await world.plane.until(() => commands.launches.length === 1)
  const { pid } = await world.identityOf('web')
  world.host.exit(pid, { exitCode: 0 })
  expect(await aborted).toBe('the process has ended')
  expect(await command.result).toEqual({ exitCode: 129 })
})

test('W47: attach needs a terminal, and a terminal a process that ends with Evenkeel', async () => {
  const { world } = await startWeb()
  await expect((await connect(world, 'attach')).result).rejects.toThrow(
    'process web has no terminal: set spec.terminal to true',
  )
  await expect(world.create('other', { command: ['serve'], terminal: true, lifetime: 'Persistent' })).rejects.toThrow(
    'a process with a terminal ends with Evenkeel',
  )
})

test('W47: another value of terminal starts another run', async () => {
  const { world } = await startWeb()
  await world.patch('web', { terminal: true })
  const { status } = await world.until('web', (object) => isReady(object) && object.status?.run?.number === 2)
  expect(status?.run?.cause).toContain('spec.terminal changed')
})
