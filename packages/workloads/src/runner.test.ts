/** The machinery without our kinds, on a simulated machine. */
import { expect, test } from 'vitest'
import { SeededRandom, SimulatedClock } from 'evenkeel/unstable/base'
import { SimulatedLogFiles } from './logs/simulated-log-files.ts'
import type { Run, RunPlan } from './runs.ts'
import { Runner } from './runner.ts'
import { SimulatedNetwork } from './services/simulated-network.ts'
import { SimulatedFiles, SimulatedHost } from './simulated-host.ts'

const owner = { uid: 'u1', namespace: 'things', name: 'web' }
const plan: RunPlan = {
  owner,
  command: ['serve'],
  cwd: '/',
  env: {},
  lifetime: 'session',
  fingerprint: '',
  cause: 'a test',
  failures: 0,
  restarts: 0,
  ports: [],
  variables: [],
  separateStderr: true,
}

function simulated(options: { readonly keepsLogs?: boolean } = {}) {
  const clock = new SimulatedClock()
  const host = new SimulatedHost({ clock })
  const logFiles = new SimulatedLogFiles({ clock })
  const network = new SimulatedNetwork()
  const files = new SimulatedFiles()
  const random = new SeededRandom('runner')
  return {
    host,
    logFiles,
    network,
    runner: new Runner({ folder: '/data', ...options, ...{ host, logFiles, network, files, clock, random } }),
  }
}

async function start(runner: Runner): Promise<Run> {
  await runner.session.open()
  const run = await runner.session.start(plan, { number: 1 })
  if ('reason' in run) throw new Error(run.message)
  runner.keepLog(run)
  return run
}

test('a Runner starts a program, and stop leaves no process and no listener', async () => {
  const { runner, host, network } = simulated()
  await start(runner)
  runner.proxies.open()
  await runner.proxies.listen(owner, { address: '127.0.0.1', port: 8080 })
  expect(host.processes().map(({ command }) => command)).toEqual(['serve'])
  expect(network.listening()).toEqual(['127.0.0.1:8080'])
  expect(await runner.stop()).toEqual([])
  expect([host.processes(), network.listening()]).toEqual([[], []])
})

test('a log of a Runner has the time before each line, and the rest of a line when it is final', async () => {
  const { runner, logFiles } = simulated()
  const { logFile } = await start(runner)
  logFiles.write(logFile, 'first\n2030-01-01T00:00:00Z second\nrest')
  const log = await runner.openLog(logFile)
  const read = async (isFinal: boolean): Promise<string> => Buffer.from((await log?.next({ isFinal })) ?? []).toString()
  const time = '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z'
  expect(await read(false)).toMatch(new RegExp(`^${time} first\n${time} 2030-01-01T00:00:00Z second\n$`))
  expect(await read(false)).toBe('')
  expect(await read(true)).toMatch(new RegExp(`^${time} rest$`))
  await log?.close()
  expect(await runner.openLog('/data/nothing')).toBeUndefined()
})

test.each([
  { keepsLogs: false, left: 0 },
  { keepsLogs: true, left: 2 },
])(
  'a Runner with keepsLogs $keepsLogs leaves $left logs of an object that is forgotten',
  async ({ keepsLogs, left }) => {
    const { runner, logFiles } = simulated({ keepsLogs })
    const run = await start(runner)
    logFiles.write(run.logFile, 'line\n')
    await runner.session.endFully(run, { reason: 'Deleted' })
    runner.releaseLog(run)
    await runner.session.forget(owner.uid)
    expect(logFiles.paths()).toHaveLength(left)
  },
)
