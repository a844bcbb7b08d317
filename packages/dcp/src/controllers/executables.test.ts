/** Executables on a simulated machine. */
import { expect, test } from 'vitest'
import { Executable } from '../kinds/executable.ts'
import { Endpoint, Service } from '../kinds/network.ts'
import { startApplication, stateIs } from './plane.fixture.ts'

test('an Executable runs, and its status has the names and fields of dcp', async () => {
  const app = await startApplication()
  await app.create(Executable, 'web', {
    spec: { executablePath: 'serve', args: ['-v'], env: [{ name: 'A', value: 'b' }] },
  })
  const { status } = await app.until(Executable, 'web', stateIs('Running'))
  const [program] = app.host.processes()
  expect(app.programs()).toEqual(['serve -v'])
  expect(status).toEqual({
    observedGeneration: 1,
    state: 'Running',
    pid: program?.pid,
    executionID: String(program?.pid),
    startupTimestamp: expect.stringMatching(/^\d{4}-.*\.\d{6}Z$/) as string,
    stdOutFile: expect.stringMatching(/^\/runs\/.*\.log$/) as string,
    stdErrFile: expect.stringMatching(/^\/runs\/.*stderr\.log$/) as string,
    effectiveEnv: [
      { name: 'A', value: 'b' },
      { name: 'PATH', value: '/bin' },
    ],
    effectiveArgs: ['-v'],
    healthStatus: 'Healthy',
  })
  expect(app.host.launchOf(program?.pid ?? 0)).toMatchObject({ cwd: '/app', env: { A: 'b', PATH: '/bin' } })
})

test.each([
  { args: ['3', '500'], exitCode: 3, healthStatus: 'Unhealthy' },
  { args: ['0', '500'], exitCode: 0, healthStatus: 'Caution' },
])(
  'an Executable that exits with $exitCode is Finished and $healthStatus',
  async ({ args, exitCode, healthStatus }) => {
    const app = await startApplication()
    await app.create(Executable, 'job', { spec: { executablePath: 'exit', args } })
    const { status } = await app.until(Executable, 'job', stateIs('Finished'))
    expect(status).toMatchObject({ exitCode, healthStatus, finishTimestamp: expect.any(String) as string })
    expect(status?.pid).toBeUndefined()
    await app.plane.advance(60_000)
    // It is run once.
    expect(app.programs()).toEqual([])
  },
)

test('an Executable waits for spec.start, and is stopped by spec.stop as a whole tree', async () => {
  const app = await startApplication()
  const created = await app.create(Executable, 'web', { spec: { executablePath: 'daemon', start: false } })
  await app.plane.advance(5000)
  expect(app.programs()).toEqual([])
  await app.client.patch(created, { spec: { start: true } } as never)
  await app.until(Executable, 'web', stateIs('Running'))
  // The child has a session of its own, and ignores SIGTERM.
  expect(app.programs()).toEqual(['daemon', 'daemon child'])
  await app.client.patch(created, { spec: { stop: true } } as never)
  const { status } = await app.until(Executable, 'web', stateIs('Finished'))
  expect(status).toMatchObject({ exitCode: -1 })
  await app.plane.until(() => app.programs().length === 0, { timeoutMs: 30_000 })
})

test('a deleted Executable is there until its last process has ended, and its logs go with it', async () => {
  const app = await startApplication()
  const created = await app.create(Executable, 'web', { spec: { executablePath: 'stubborn' } })
  const { status } = await app.until(Executable, 'web', stateIs('Running'))
  app.logFiles.write(status?.stdOutFile ?? '', 'a line\n')
  await app.client.delete(created)
  await app.until(Executable, 'web', stateIs('Stopping'))
  expect(app.programs()).toEqual(['stubborn'])
  await app.untilGone(Executable, 'web')
  expect([app.programs(), app.logFiles.paths()]).toEqual([[], []])
})

test.each([
  ['a program that is missing', { executablePath: 'missing' }, 'missing is in no folder of PATH'],
  ['an editor', { executablePath: 'serve', executionType: 'IDE' }, 'executionType IDE is not supported'],
  ['a persistent one', { executablePath: 'serve', persistent: true }, 'mode persistent is not supported'],
  ['a terminal', { executablePath: 'serve', terminal: {} }, 'terminals are not supported'],
  ['one that is stopped', { executablePath: 'serve', stop: true }, 'spec.stop is true'],
])('%s has failed to start, and its log says why', async (_, spec, why) => {
  const app = await startApplication()
  const created = await app.create(Executable, 'web', { spec })
  const { status } = await app.until(Executable, 'web', stateIs('FailedToStart'))
  expect(status).toMatchObject({ healthStatus: 'Unhealthy', finishTimestamp: expect.any(String) as string })
  expect(app.systemLog(created)).toContain(why)
  expect(app.programs()).toEqual([])
})

test('an editor that falls back is run as a process', async () => {
  const app = await startApplication()
  await app.create(Executable, 'web', {
    spec: { executablePath: 'serve', executionType: 'IDE', fallbackExecutionTypes: ['Process'] },
  })
  await app.until(Executable, 'web', stateIs('Running'))
})

test('templates have ports and addresses of Services; an Executable waits for a Service that is missing', async () => {
  const app = await startApplication()
  await app.create(Executable, 'api', {
    metadata: { name: 'api', annotations: { 'service-producer': '[{"serviceName":"api"}]' } },
    spec: {
      executablePath: 'serve',
      args: ['--port={{- portForServing "api" -}}', '{{ addressForServing "api" }}'],
      env: [{ name: 'DB', value: '{{ addressFor "db" }}:{{ portFor "db" }}' }],
    },
  })
  await app.create(Service, 'api', { spec: { protocol: 'TCP' } })
  await app.until(Executable, 'api', stateIs('Starting'))
  expect(app.programs()).toEqual([])
  await app.create(Service, 'db', { spec: { port: 5432 } })
  const { status } = await app.until(Executable, 'api', stateIs('Running'))
  expect(status?.effectiveEnv).toContainEqual({ name: 'DB', value: 'localhost:5432' })
  const [, port = ''] = /^--port=(\d+)$/.exec(status?.effectiveArgs?.[0] ?? '') ?? []
  expect(status?.effectiveArgs?.[1]).toBe('localhost')
  const { items } = await app.client.list(Endpoint)
  expect(items.map(({ spec }) => spec)).toEqual([
    { serviceNamespace: '', serviceName: 'api', address: 'localhost', port: Number(port) },
  ])
})

test('an Endpoint is there from the start of a program to the beginning of its end', async () => {
  const app = await startApplication()
  const created = await app.create(Executable, 'api', {
    metadata: {
      name: 'api',
      annotations: { 'service-producer': '[{"serviceName":"api","port":9000,"address":"0.0.0.0"}]' },
    },
    spec: { executablePath: 'stubborn' },
  })
  await app.until(Executable, 'api', stateIs('Running'))
  await app.plane.until(async () => (await app.client.list(Endpoint)).items.length === 1)
  expect((await app.client.list(Endpoint)).items[0]?.spec).toMatchObject({ address: '127.0.0.1', port: 9000 })
  await app.client.patch(created, { spec: { stop: true } } as never)
  await app.until(Executable, 'api', stateIs('Stopping'))
  expect((await app.client.list(Endpoint)).items).toEqual([])
  expect(app.programs()).toEqual(['stubborn'])
})

test('health follows the probes of a program that runs', async () => {
  const app = await startApplication()
  app.probes.answer = () => ({ isOk: false, output: 'no answer yet' })
  await app.create(Executable, 'api', {
    metadata: { name: 'api', annotations: { 'service-producer': '[{"serviceName":"api","port":9000}]' } },
    spec: {
      executablePath: 'serve',
      healthProbes: [
        {
          name: 'live',
          type: 'HTTP',
          httpProbe: { url: 'http://localhost:{{ portForServing "api" }}/health' },
          schedule: { kind: 'UntilSuccess', interval: '2s', initialDelay: '1s' },
        },
      ],
    },
  })
  expect((await app.until(Executable, 'api', stateIs('Running'))).status?.healthStatus).toBe('Caution')
  const failed = await app.until(Executable, 'api', ({ status }) => status?.healthStatus === 'Unhealthy')
  expect(failed.status?.healthProbeResults).toMatchObject([
    { outcome: 'Failure', probeName: 'live', reason: 'no answer yet' },
  ])
  app.probes.answer = () => ({ isOk: true, output: '' })
  await app.until(Executable, 'api', ({ status }) => status?.healthStatus === 'Healthy')
  expect(app.probes.checks[0]).toMatchObject({ url: 'http://localhost:9000/health', timeoutMs: 10_000 })
  const looks = app.probes.checks.length
  await app.plane.advance(60_000)
  expect(app.probes.checks).toHaveLength(looks)
})
