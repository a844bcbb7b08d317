import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestApplication } from '../dcp-server.fixture.ts'

let application: TestApplication
beforeAll(async () => {
  application = await TestApplication.start()
})
afterAll(() => application.stop())

let count = 0

/** What is wrong with a new object of this spec. */
function wrong(kind: string, spec: object): Promise<string[]> {
  return application.problems(application.create(kind, `Object_${++count}`, { spec }))
}

/** What is wrong with this change of the spec of an object. */
async function wrongChange(kind: string, spec: object, change: object): Promise<string[]> {
  const object = await application.create(kind, `Object_${++count}`, { spec })
  return application.problems(application.client.patch(object, { spec: change }))
}

const program = { executablePath: '/bin/app' }
const probe = { name: 'up', type: 'HTTP', httpProbe: { url: 'http://a' }, schedule: { interval: '5s' } }
const monitored = { persistent: true, monitorPid: 7, monitorTimestamp: '2030-01-31T12:00:00.123456Z' }
const certificate = { thumbprint: 'a', contents: 'b' }

describe('an Executable is created', () => {
  test.each<[string, object]>([
    ['alone', {}],
    ['with zero values, as Go writes them', { ambientEnvironment: {}, monitorTimestamp: null, args: null, env: [] }],
    ['for an editor with a fallback', { executionType: 'IDE', fallbackExecutionTypes: ['Process'] }],
    ['with a process that decides over its lifetime', monitored],
    ['with probes', { healthProbes: [probe] }],
    ['with a terminal', { terminal: { udsPath: '/a', socketMode: 'connect', cols: 80, rows: 24 } }],
  ])('%s', async (_, spec) => {
    expect(await wrong('Executable', { ...program, ...spec })).toEqual([])
  })
})

describe('an Executable is refused', () => {
  test.each<[string, object, string[]]>([
    ['without a program', { executablePath: '' }, ['spec.executablePath: FieldValueRequired']],
    ['with an unknown execution', { executionType: 'Foo' }, ['spec.executionType: FieldValueNotSupported']],
    [
      'with one fallback twice',
      { fallbackExecutionTypes: ['IDE', 'IDE'] },
      ['spec.fallbackExecutionTypes: FieldValueInvalid'],
    ],
    [
      'with itself as fallback',
      { fallbackExecutionTypes: ['Process'] },
      ['spec.fallbackExecutionTypes: FieldValueInvalid'],
    ],
    ['with an unknown mode', { mode: 'existing' }, ['spec.mode: FieldValueNotSupported']],
    [
      'with an editor for a process that was there before',
      { mode: 'cleanup', executionType: 'IDE' },
      ['spec.mode: FieldValueInvalid'],
    ],
    ['persistent with a terminal', { persistent: true, terminal: {} }, ['spec.terminal: FieldValueForbidden']],
    [
      'with a monitor in a session',
      { monitorPid: 7 },
      ['spec.monitorPid: FieldValueForbidden', 'spec.monitorTimestamp: FieldValueRequired'],
    ],
    [
      'with a monitor without its time',
      { persistent: true, monitorPid: 7 },
      ['spec.monitorTimestamp: FieldValueRequired'],
    ],
    [
      'with a time without its monitor',
      { ...monitored, monitorPid: undefined },
      ['spec.monitorPid: FieldValueRequired'],
    ],
    ['with a monitor below 1', { ...monitored, monitorPid: -1 }, ['spec.monitorPid: FieldValueInvalid']],
    [
      'with a probe without a name',
      { healthProbes: [{ ...probe, name: '' }] },
      ['spec.healthProbes[0].name: FieldValueRequired'],
    ],
    [
      'with a reserved name',
      { healthProbes: [{ ...probe, name: '_x' }] },
      ['spec.healthProbes[0].name: FieldValueInvalid'],
    ],
    [
      'with a probe in a container',
      { healthProbes: [{ ...probe, type: 'ContainerExec' }] },
      ['spec.healthProbes[0].type: FieldValueNotSupported'],
    ],
    [
      'with a probe of nothing',
      { healthProbes: [{ ...probe, httpProbe: {} }] },
      ['spec.healthProbes[0].httpProbe.url: FieldValueRequired'],
    ],
    [
      'with a probe that never comes',
      { healthProbes: [{ ...probe, schedule: { interval: '0s' } }] },
      ['spec.healthProbes[0].schedule.interval: FieldValueInvalid'],
    ],
    [
      'with a probe that has probes and never runs',
      {
        healthProbes: [
          {
            ...probe,
            type: 'Executable',
            executableProbe: { executableTemplate: { spec: { ...program, stop: true, healthProbes: [{}] } } },
          },
        ],
      },
      [
        'spec.healthProbes[0].executableProbe.executableTemplate.spec.stop: FieldValueInvalid',
        'spec.healthProbes[0].executableProbe.executableTemplate.spec.healthProbes: FieldValueForbidden',
      ],
    ],
    ['with no certificate', { pemCertificates: {} }, ['spec.pemCertificates.certificates: FieldValueRequired']],
    [
      'with an empty certificate',
      { pemCertificates: { certificates: [{ ...certificate, contents: '' }] } },
      ['spec.pemCertificates.certificates[0].contents: FieldValueRequired'],
    ],
    [
      'with a terminal without a socket',
      { terminal: { socketMode: 'connect' } },
      ['spec.terminal.udsPath: FieldValueRequired'],
    ],
    [
      'with a huge terminal',
      { terminal: { cols: 40_000, rows: -1 } },
      ['spec.terminal.cols: FieldValueInvalid', 'spec.terminal.rows: FieldValueInvalid'],
    ],
  ])('%s', async (_, spec, problems) => {
    expect(await wrong('Executable', { ...program, ...spec })).toEqual(problems)
  })
})

describe('a change of an Executable', () => {
  test.each<[string, object, object]>([
    ['starts it', { start: false }, { start: true }],
    ['stops it', {}, { stop: true }],
    [
      'of its program and environment',
      {},
      { executablePath: '/b', args: ['x'], env: [{ name: 'A', value: 'b' }], workingDirectory: '/' },
    ],
    [
      'to the zero value of the same field',
      { stop: false, ambientEnvironment: {} },
      { stop: null, ambientEnvironment: null },
    ],
    ['of the notation of a time', monitored, { monitorTimestamp: '2030-01-31T12:00:00.123456000+00:00' }],
  ])('is taken: %s', async (_, spec, change) => {
    expect(await wrongChange('Executable', { ...program, ...spec }, change)).toEqual([])
  })

  test.for<[string, object, object, string]>([
    ['start from true to false', { start: true }, { start: false }, 'spec.start'],
    ['start from its default to false', {}, { start: false }, 'spec.start'],
    ['stop from true to false', { stop: true }, { stop: false }, 'spec.stop'],
    ['the mode', {}, { mode: 'cleanup' }, 'spec.mode'],
    [
      'a microsecond of the time',
      monitored,
      { monitorTimestamp: '2030-01-31T12:00:00.123457Z' },
      'spec.monitorTimestamp',
    ],
    ['the process that decides', monitored, { monitorPid: 8 }, 'spec.monitorPid'],
    [
      'the inherited environment',
      {},
      { ambientEnvironment: { behavior: 'DoNotInherit' } },
      'spec.ambientEnvironment.behavior',
    ],
    [
      'one of its probes',
      { healthProbes: [probe, { ...probe, name: 'b' }] },
      { healthProbes: [probe, { ...probe, name: 'c' }] },
      'spec.healthProbes[1]',
    ],
    ['the number of its probes', { healthProbes: [probe] }, { healthProbes: [] }, 'spec.healthProbes'],
    [
      'its certificates',
      { pemCertificates: { certificates: [certificate] } },
      { pemCertificates: null },
      'spec.pemCertificates',
    ],
    ['its terminal', {}, { terminal: { cols: 80 } }, 'spec.terminal'],
  ])('is refused: %s', async ([, spec, change, path]) => {
    expect(await wrongChange('Executable', { ...program, ...spec }, change)).toContain(`${path}: FieldValueForbidden`)
  })

  test('persistent is fixed, and so is the mode that it means', async () => {
    expect(await wrongChange('Executable', program, { persistent: true })).toEqual([
      'spec.persistent: FieldValueForbidden',
      'spec.mode: FieldValueForbidden',
    ])
    expect(await wrongChange('Executable', { ...program, persistent: true }, { mode: 'cleanup' })).toEqual([])
  })
})

const image = { image: 'redis' }
const files = (entry: object): object => ({ ...image, createFiles: [{ destination: '/a', entries: [entry] }] })

describe('a Container is refused', () => {
  test.each<[string, object, string[]]>([
    ['without an image', {}, ['spec.image: FieldValueRequired']],
    ['with white space in its image', { image: 'a b' }, ['spec.image: FieldValueInvalid']],
    ['with a build of nothing', { build: {} }, ['spec.build.context: FieldValueRequired']],
    [
      'with a secret of nothing',
      { build: { context: '.', secrets: [{}] } },
      ['spec.build.secrets[0].id: FieldValueRequired', 'spec.build.secrets[0].source: FieldValueRequired'],
    ],
    [
      'with a label without a value',
      { ...image, labels: [{ key: 'a' }] },
      ['spec.labels[0].value: FieldValueRequired'],
    ],
    ['with an odd name', { ...image, containerName: '-a' }, ['spec.containerName: FieldValueInvalid']],
    ['persistent without a name', { ...image, persistent: true }, ['spec.containerName: FieldValueRequired']],
    [
      'existing with a terminal',
      { mode: 'existing', containerName: 'ab', terminal: {} },
      ['spec.terminal: FieldValueForbidden'],
    ],
    [
      'with a port above 65535',
      { ...image, ports: [{ containerPort: 70_000 }] },
      ['spec.ports[0].containerPort: FieldValueInvalid'],
    ],
    [
      'with a relative destination',
      { ...image, createFiles: [{ destination: 'a', entries: [{ name: 'x' }] }] },
      ['spec.createFiles[0].destination: FieldValueInvalid'],
    ],
    [
      'with no files',
      { ...image, createFiles: [{ destination: '/a' }] },
      ['spec.createFiles[0].entries: FieldValueRequired'],
    ],
    ['with a path as a name', files({ name: 'a/b' }), ['spec.createFiles[0].entries[0].name: FieldValueInvalid']],
    [
      'with two contents',
      files({ name: 'a', source: '/b', contents: 'c' }),
      ['spec.createFiles[0].entries[0].contents: FieldValueForbidden'],
    ],
    [
      'with a folder that has contents',
      files({ name: 'a', type: 'directory', contents: 'c' }),
      ['spec.createFiles[0].entries[0].contents: FieldValueForbidden'],
    ],
    [
      'with a folder in a folder without a name',
      files({ name: 'a', type: 'directory', entries: [{ type: 'directory' }] }),
      ['spec.createFiles[0].entries[0].entries[0].name: FieldValueRequired'],
    ],
    [
      'with type bits in a mode',
      files({ name: 'a', mode: 0o100644 }),
      ['spec.createFiles[0].entries[0].mode: FieldValueInvalid'],
    ],
    [
      'with a layer without its hash',
      { ...image, imageLayers: [{ digest: 'a', source: '/b' }] },
      ['spec.imageLayers[0].sha256: FieldValueRequired'],
    ],
    [
      'with a short hash',
      { ...image, imageLayers: [{ digest: 'a', source: '/b', sha256: 'abc' }] },
      ['spec.imageLayers[0].sha256: FieldValueInvalid'],
    ],
    [
      'with certificates in a relative folder',
      { ...image, pemCertificates: { certificates: [certificate], destination: 'a' } },
      ['spec.pemCertificates.destination: FieldValueInvalid'],
    ],
  ])('%s', async (_, spec, problems) => {
    expect(await wrong('Container', spec)).toEqual(problems)
  })
})

test('a protocol is written in either case', async () => {
  const ports = ['tcp', 'UDP', ''].map((protocol) => ({ containerPort: 80, protocol }))
  expect(await wrong('Container', { ...image, ports })).toEqual([])
  expect(await wrong('Service', { protocol: 'SCTP' })).toEqual(['spec.protocol: FieldValueNotSupported'])
})

test('a Container that is only used needs no image', async () => {
  expect(await wrong('Container', { mode: 'existing', containerName: 'ab' })).toEqual([])
})

test.for<[string, object, object, string]>([
  ['its image', image, { image: 'b' }, 'spec.image'],
  ['its name', { ...image, containerName: 'ab' }, { containerName: 'cd' }, 'spec.containerName'],
  ['what is built', { build: { context: 'a' } }, { build: { context: 'b' } }, 'spec.build'],
  ['from no networks to a list', image, { networks: [] }, 'spec.networks'],
  ['from a list of networks to none', { ...image, networks: [{ name: 'a' }] }, { networks: null }, 'spec.networks'],
  ['its labels', image, { labels: [{ key: 'a', value: 'b' }] }, 'spec.labels'],
  ['when it is pulled', image, { pullPolicy: 'never' }, 'spec.pullPolicy'],
  ['start', image, { start: false }, 'spec.start'],
])('a change of a Container is refused: %s', async ([, spec, change, path]) => {
  expect(await wrongChange('Container', spec, change)).toEqual([`${path}: FieldValueForbidden`])
})

test('networks of a list, and names of a build, may change', async () => {
  expect(
    await wrongChange('Container', { ...image, networks: [{ name: 'a' }] }, { networks: [{ name: 'b' }] }),
  ).toEqual([])
  expect(await wrongChange('Container', { build: { context: 'a' } }, { build: { context: 'a', tags: ['b'] } })).toEqual(
    [],
  )
})

test('the other kinds', async () => {
  expect(await wrong('ContainerExec', {})).toEqual([
    'spec.command: FieldValueRequired',
    'spec.containerName: FieldValueRequired',
  ])
  expect(await wrongChange('ContainerExec', { command: 'a', containerName: 'b' }, { args: ['c'] })).toEqual([
    'spec.args: FieldValueForbidden',
  ])
  expect(await wrong('ContainerVolume', { name: ' ' })).toEqual(['spec.name: FieldValueRequired'])
  expect(await wrongChange('ContainerVolume', { name: 'a' }, { persistent: false })).toEqual([
    'spec.persistent: FieldValueForbidden',
  ])
  expect(await wrong('ContainerNetwork', { mode: 'existing' })).toEqual(['spec.networkName: FieldValueRequired'])
  expect(await wrongChange('ContainerNetwork', {}, { ipv6: true })).toEqual(['spec.ipv6: FieldValueForbidden'])
  expect(await wrong('ExecutableReplicaSet', { replicas: 1, template: { spec: { stop: true } } })).toEqual([
    'spec.template.spec.executablePath: FieldValueRequired',
    'spec.template.spec.stop: FieldValueInvalid',
  ])
  expect(await wrong('Service', { port: 70_000 })).toEqual(['spec.port: FieldValueInvalid'])
})

test('a tunnel keeps its ends; others come and go', async () => {
  const tunnel = { name: 'a', serverServiceName: 's', clientServiceName: 'c' }
  const spec = { containerNetworkName: 'n', aliases: ['x', 'y'], tunnels: [tunnel] }
  expect(await wrong('ContainerNetworkTunnelProxy', { ...spec, tunnels: [tunnel, tunnel, {}] })).toEqual([
    'spec.tunnels[2].name: FieldValueRequired',
    'spec.tunnels[2].serverServiceName: FieldValueRequired',
    'spec.tunnels[2].clientServiceName: FieldValueRequired',
    'spec.tunnels[1].name: FieldValueDuplicate',
  ])
  const change = { aliases: ['y', 'x'], tunnels: [{ ...tunnel, name: 'b' }, tunnel] }
  expect(await wrongChange('ContainerNetworkTunnelProxy', spec, change)).toEqual([])
  expect(
    await wrongChange('ContainerNetworkTunnelProxy', spec, { tunnels: [{ ...tunnel, clientServiceName: 'd' }] }),
  ).toEqual(['spec.tunnels[0]: FieldValueForbidden'])
})

test('a volume is persistent unless it says otherwise', async () => {
  const volume = await application.create('ContainerVolume', 'data', { spec: { name: 'data' } })
  expect(volume['spec' as keyof typeof volume]).toEqual({ name: 'data', persistent: true })
})
