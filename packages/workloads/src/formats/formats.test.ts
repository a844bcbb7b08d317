/** Files of applications: what is mapped, and what is said about everything else. */
/* eslint-disable no-template-curly-in-string -- variables of the files that are read */
import { describe, expect, test } from 'vitest'
import { checkApplication, formatOf, readApplicationFile } from './application.ts'
import { formatFinding, type FileContents } from './finding.ts'

interface Read {
  readonly objects: readonly { readonly kind: string; readonly metadata: object; readonly spec?: object | undefined }[]
  readonly warnings: readonly string[]
  readonly errors: readonly string[]
}

async function read(file: string, text: string, options: object = {}): Promise<Read> {
  const contents: FileContents = await readApplicationFile(text, { file, ...options })
  return {
    objects: contents.objects.map(({ object }) => ({
      kind: object.kind,
      metadata: object.metadata,
      spec: object.spec,
    })),
    warnings: contents.warnings.map(formatFinding),
    errors: [...contents.errors, ...checkApplication(contents.objects)].map(formatFinding),
  }
}

const clean = { warnings: [], errors: [] }
const specOf = async (file: string, text: string, options: object = {}): Promise<unknown> => {
  const { objects, errors } = await read(file, text, options)
  expect(errors).toEqual([])
  return objects[0]?.spec
}

describe('W32: a file is read by its name', () => {
  test.each([
    ['app.ts', 'module'],
    ['src/App.mjs', 'module'],
    ['Procfile', 'procfile'],
    ['Procfile.dev', 'procfile'],
    ['process-compose.yaml', 'process-compose'],
    ['process-compose.dev.yml', 'process-compose'],
    ['compose.yaml', 'compose'],
    ['docker-compose.override.yml', 'compose'],
    ['evenkeel.yaml', 'manifest'],
    ['objects.json', 'manifest'],
  ])('%s is a %s', (file, format) => {
    expect(formatOf(file)).toBe(format)
  })
})

describe('W32: a Procfile', () => {
  test('has a process per line, each with a port of its own and the variables of .env', async () => {
    const text = '# comment\nweb: node server.js --port $PORT\n\nworker-2:  sh -c "a: b"  \r\n'
    const spec = { envFiles: [{ path: '.env', optional: true }], ports: [{ name: 'port', env: 'PORT' }] }
    expect(await read('Procfile', text)).toEqual({
      ...clean,
      objects: [
        { kind: 'Process', metadata: { name: 'web' }, spec: { shell: 'node server.js --port $PORT', ...spec } },
        { kind: 'Process', metadata: { name: 'worker-2' }, spec: { shell: 'sh -c "a: b"', ...spec } },
      ],
    })
  })

  test('takes the first port from .env, and runs in its own folder', async () => {
    const { objects } = await read('app/Procfile', 'web: a\napi: b', { folder: 'app', dotenv: 'X=1\nPORT=4000\n' })
    expect(objects.map(({ spec }) => spec)).toMatchObject([
      { cwd: 'app', ports: [{ port: 4000 }] },
      { cwd: 'app', ports: [{ port: 4100 }] },
    ])
  })

  test.each([
    ['web node', 'Procfile:1: write NAME: COMMAND, or # before a comment; a name has letters, digits, - and _'],
    ['a: b\nweb:', 'Procfile:2: write NAME: COMMAND, or # before a comment; a name has letters, digits, - and _'],
    ['a: b\n#\nA: c', 'Procfile:3: A is there twice, first in line 1: rename one'],
    ['# nothing', 'Procfile:1: the file has no processes: write NAME: COMMAND'],
  ])('%j is a mistake with its line', async (text, error) => {
    expect((await read('Procfile', text)).errors).toEqual([error])
  })

  test('W31: a mistake in .env is one of the application', async () => {
    const { errors } = await read('Procfile', 'web: a', { dotenv: 'PORT=http\n' })
    expect(errors).toEqual(['.env:1: PORT: must be a port from 1 to 65535, got "http"'])
    expect((await read('Procfile', 'web: a', { dotenv: 'A="open\n' })).errors[0]).toContain(
      '.env:1: the value has no closing "',
    )
  })

  test('names a process that objects cannot be called like', async () => {
    expect((await read('Procfile', 'my_web: a')).warnings).toEqual([
      'Procfile:1: my_web is called my-web: objects have names in lower case without _',
    ])
  })
})

describe('W32: our own files', () => {
  const webObject = { apiVersion: 'workloads.evenkeel.dev/v1', kind: 'Process', metadata: { name: 'web' } }

  test('have objects of any kind, several documents, lists', async () => {
    const text = `apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data: { a: "1" }
---
apiVersion: v1
kind: List
items:
  - ${JSON.stringify({ ...webObject, spec: { command: ['node'] } })}
`
    const { objects, ...rest } = await read('evenkeel.yaml', text)
    expect(rest).toEqual(clean)
    expect(objects).toMatchObject([{ kind: 'ConfigMap' }, { kind: 'Process', spec: { command: ['node'] } }])
  })

  test.each([
    [
      'kind: Process\n\tmetadata: {}',
      'evenkeel.yaml:2: a tab stands at the beginning of the line: YAML is indented with spaces, replace the tab by two',
    ],
    ['a: 1\na: 2', 'evenkeel.yaml:2: the same field is there twice: remove one'],
    ['- 1', 'evenkeel.yaml:1: must be an object with apiVersion, kind and metadata'],
    ['', 'evenkeel.yaml:1: the file has no objects: write apiVersion, kind, metadata and spec'],
    [
      'services: { web: { image: a } }',
      'evenkeel.yaml:1: has no apiVersion and no kind and no metadata.name: if this is a compose file, call it compose.yaml',
    ],
    [
      `${JSON.stringify(webObject)}\n---\n${JSON.stringify(webObject)}`,
      'evenkeel.yaml:3: metadata.name: Process web is there twice, first in evenkeel.yaml:1: rename one',
    ],
    [
      JSON.stringify({ ...webObject, spec: { command: 'node server.js' } }),
      'evenkeel.yaml:1: spec.command: must be a list: [node, server.js]; or write shell: with the text',
    ],
    [
      JSON.stringify({ ...webObject, spec: { command: "node 'server.js" } }),
      'evenkeel.yaml:1: spec.command: has a quote that is not closed; and it must be a list: [node, server.js]',
    ],
    [
      JSON.stringify({ ...webObject, spec: { dependsOn: [{ name: 'db' }, { name: 'web' }] } }),
      'evenkeel.yaml:1: spec.dependsOn[1]: Process web depends on itself: remove it',
    ],
    [
      JSON.stringify({ ...webObject, kind: 'ProcessSet', spec: { replicas: 1e9 } }),
      'evenkeel.yaml:1: spec.replicas: must be at most 1000, got 1000000000',
    ],
  ])('A.4: %j is a mistake with its line and path', async (text, error) => {
    expect((await read('evenkeel.yaml', text)).errors).toEqual([error])
  })

  test('paths begin at the folder of the file', async () => {
    const [made, folder] = [(kind: string, spec: object) => ({ ...webObject, kind, spec }), 'app']
    const program = { template: { spec: { command: ['node', 'a.js'], cwd: './sub' } } }
    const moved = { template: { spec: { command: ['node', 'a.js'], cwd: 'app/sub' } } }
    const volumeMounts = [
      { bind: 'pages', target: '/pages' },
      { volume: 'data', target: '/data' },
    ]
    const container = { build: { context: '.', dockerfile: 'Dockerfile' }, envFiles: [{ path: '.env' }], volumeMounts }
    const cases: readonly (readonly [kind: string, spec: object, read: object])[] = [
      ['Process', { command: ['a'] }, { command: ['a'], cwd: 'app' }],
      ['Process', { command: ['a'], cwd: '/srv' }, { command: ['a'], cwd: '/srv' }],
      ['Process', { command: ['a'], cwd: 1 }, { command: ['a'], cwd: 1 }],
      ['ProcessSet', program, moved],
      ['Task', program, moved],
      ['Schedule', { template: { spec: program } }, { template: { spec: moved } }],
      [
        'Container',
        container,
        {
          build: { context: 'app', dockerfile: 'Dockerfile' },
          envFiles: [{ path: 'app/.env' }],
          volumeMounts: [{ bind: 'app/pages', target: '/pages' }, volumeMounts[1] ?? {}],
        },
      ],
      ['Service', { targetPort: 'http' }, { targetPort: 'http' }],
    ]
    for (const [kind, given, expected] of cases) {
      const { objects } = await read('app/evenkeel.yaml', JSON.stringify(made(kind, given)), { folder })
      expect(objects[0]?.spec, kind).toEqual(expected)
    }
  })

  test.runIf(process.platform !== 'win32')('A.4: a path of Windows is a mistake elsewhere', async () => {
    const { errors } = await read('evenkeel.yaml', JSON.stringify({ ...webObject, spec: { cwd: 'C:\\app' } }), {
      folder: 'app',
    })
    expect(errors).toEqual([
      'evenkeel.yaml:1: spec.cwd: "C:\\\\app" is a path of Windows: write it with slashes, relative to the project',
    ])
  })

  test('A.4: two objects with one fixed port: the second one is named with the place of the first', async () => {
    const [a, b] = ['a', 'b'].map((name) =>
      JSON.stringify({ ...webObject, metadata: { name }, spec: { ports: [{ name: 'http', port: 8080 }] } }),
    )
    expect((await read('evenkeel.yaml', `${a}\n---\n${b}`)).errors).toEqual([
      'evenkeel.yaml:3: spec.ports[0]: port 8080 belongs to Process a (evenkeel.yaml:1): choose another one, or 0 for any',
    ])
  })
})

describe('W32: a process-compose file', () => {
  const file = 'process-compose.yaml'
  const always = { policy: 'Never' }
  const common = {
    envFiles: [{ path: '.env', optional: true }],
    env: [
      { name: 'PC_PROC_NAME', value: 'a' },
      { name: 'PC_REPLICA_NUM', value: '0' },
    ],
    restart: always,
  }

  test.each([
    ['a command is for a shell', 'command: echo $$HOME', { ...common, shell: 'echo $HOME' }],
    ['an entrypoint is not', 'entrypoint: [a, b]', { ...common, command: ['a', 'b'] }],
    ['working_dir', 'command: a\n    working_dir: sub', { ...common, shell: 'a', cwd: 'sub' }],
    ['disabled', 'command: a\n    disabled: true', { ...common, shell: 'a', running: false }],
    [
      'env_file',
      'command: a\n    env_file: [x.env]',
      { ...common, shell: 'a', envFiles: [{ path: '.env', optional: true }, { path: 'x.env' }] },
    ],
    [
      'W30: environment as a list, also that of the project; numbers stay as they are written',
      'command: a\n    environment: [PORT=08, A=b=c]',
      { ...common, shell: 'a', env: [...common.env, { name: 'PORT', value: '08' }, { name: 'A', value: 'b=c' }] },
    ],
    [
      'availability',
      'command: a\n    availability: { restart: on_failure, backoff_seconds: 2, max_restarts: 5 }',
      { ...common, shell: 'a', restart: { policy: 'OnFailure', initialSeconds: 2, maxSeconds: 2, limit: 5 } },
    ],
    [
      'shutdown',
      'command: a\n    shutdown: { signal: 2, timeout_seconds: 3 }',
      { ...common, shell: 'a', stop: { signal: 'SIGINT', gracePeriodSeconds: 3 } },
    ],
    [
      'depends_on with conditions',
      'command: a\n    depends_on: { b: { condition: process_healthy }, c: { condition: process_completed_successfully }, d: {} }',
      {
        ...common,
        shell: 'a',
        dependsOn: [
          { name: 'b', until: 'Ready' },
          { name: 'c', until: 'Completed' },
          { name: 'd', until: 'Started' },
        ],
      },
    ],
    [
      'probes, with the defaults of that program',
      'command: a\n    readiness_probe: { http_get: { port: 8080, path: health }, period_seconds: 5 }',
      {
        ...common,
        shell: 'a',
        probes: {
          readiness: {
            http: { port: '8080', path: '/health' },
            initialDelaySeconds: 0,
            periodSeconds: 5,
            timeoutSeconds: 1,
            successThreshold: 1,
            failureThreshold: 3,
          },
        },
      },
    ],
    [
      'a line of the log as a probe',
      'command: a\n    ready_log_line: listening',
      { ...common, shell: 'a', probes: { readiness: { logLine: { contains: 'listening' } } } },
    ],
    [
      'watch',
      'command: a\n    watch: { paths: [{ path: src, exclude: ["*.log"] }] }',
      { ...common, shell: 'a', watch: { paths: ['src'], ignore: ['*.log'] } },
    ],
  ])('maps %s', async (_, fields, spec) => {
    expect(await specOf(file, `processes:\n  a:\n    ${fields}\n`)).toEqual(spec)
  })

  test('replicas make a ProcessSet, a schedule a Schedule, a namespace a label', async () => {
    const text = `version: "0.5"
environment: [SHARED=1]
shell: { shell_command: bash }
processes:
  many: { command: a, replicas: 3, namespace: back end, description: does it }
  nightly: { command: b, schedule: { cron: "0 2 * * *", timezone: UTC } }
  often: { command: c, schedule: { interval: 30m } }
`
    const { objects, ...rest } = await read(file, text)
    expect(rest).toEqual(clean)
    expect(objects).toMatchObject([
      {
        kind: 'ProcessSet',
        metadata: { name: 'many', labels: { 'app.kubernetes.io/part-of': 'back-end' } },
        spec: {
          replicas: 3,
          template: {
            spec: { command: ['bash', '-c', 'a'], env: [{ name: 'PC_PROC_NAME' }, { name: 'SHARED', value: '1' }] },
          },
        },
      },
      {
        kind: 'Schedule',
        spec: {
          schedule: '0 2 * * *',
          timeZone: 'UTC',
          template: { spec: { template: { spec: { command: ['bash', '-c', 'b'] } } } },
        },
      },
      { kind: 'Schedule', spec: { schedule: '*/30 * * * *' } },
    ])
  })

  test('replaces variables, and names one that is not set', async () => {
    const text = 'processes:\n  a:\n    command: ${PROGRAM} $MISSING\n'
    const { objects, warnings } = await read(file, text, { env: { PROGRAM: 'node' } })
    expect(objects[0]?.spec).toMatchObject({ shell: 'node ' })
    expect(warnings).toEqual([
      `${file}:3: processes.a.command: the variable MISSING is not set: nothing stands in its place. Set it, or write $$ for a dollar sign`,
    ])
    expect(await specOf(file, `disable_env_expansion: true\n${text}`)).toMatchObject({ shell: '${PROGRAM} $MISSING' })
  })

  test('everything else is named with its line, in one list', async () => {
    const text = `log_level: info
processes:
  a:
    command: a
    log_location: a.log
    availability: { restart: exit_on_failure, exit_on_skipped: true }
    shutdown: { parent_only: true }
    readiness_probe: { exec: { command: x }, period_second: 1 }
`
    expect((await read(file, text)).warnings).toEqual([
      `${file}:1: log_level: not supported; it is ignored`,
      `${file}:5: processes.a.log_location: not supported; it is ignored`,
      `${file}:6: processes.a.availability.restart: write evenkeel run --exit-on failure; it is not restarted`,
      `${file}:6: processes.a.availability.exit_on_skipped: not supported; it is ignored`,
      `${file}:7: processes.a.shutdown.parent_only: not supported: the whole process group is signalled`,
      `${file}:8: processes.a.readiness_probe.period_second: not supported; it is ignored`,
    ])
  })

  test.each([
    [
      'extends: other.yaml\nprocesses: { a: { command: a } }',
      '1: extends: not supported: write the processes of both files into this one, or name both: evenkeel run A B',
    ],
    ['processes:\n  a: { }', '2: processes.a: has no command: write command: with the text for a shell'],
    [
      'processes:\n  a: { command: a, is_daemon: true }',
      '2: processes.a.is_daemon: not supported: run the program so that it stays in the foreground',
    ],
    [
      'processes:\n  a:\n    command: a\n    shutdown: { command: kill it }',
      '4: processes.a.shutdown.command: not supported: let the program end at a signal, shutdown: { signal: 15 }',
    ],
    [
      'processes:\n  a: { command: a, shutdown: { signal: 99 } }',
      '2: processes.a.shutdown.signal: must be 1, 2, 3, 9, 10, 12 or 15, got "99"',
    ],
    [
      'processes:\n  a: { command: a, shutdown: { timeout_seconds: -1 } }',
      '2: processes.a.shutdown.timeout_seconds: must be a whole number from 0 to 86400, got "-1"',
    ],
    [
      'processes:\n  a: { command: a, replicas: 1000000000 }',
      '2: processes.a.replicas: must be a whole number from 1 to 1000, got "1000000000"',
    ],
    [
      'processes:\n  a: { command: a, environment: ["A B=1"] }',
      '2: processes.a.environment[0]: the variable name "A B" is empty or contains =, NUL or a space: rename it',
    ],
    [
      'processes:\n  a: { command: a, readiness_probe: { http_get: { port: 70000 } } }',
      '2: processes.a.readiness_probe.http_get.port: must be a whole number from 1 to 65535, got "70000"',
    ],
    [
      'processes:\n  a: { command: a, readiness_probe: { period_seconds: 0, exec: { command: x } } }',
      '2: processes.a.readiness_probe.period_seconds: must be a whole number from 1, got "0"',
    ],
    [
      'processes:\n  a: { command: a, readiness_probe: { } }',
      '2: processes.a.readiness_probe: has no http_get and no exec: write one of them',
    ],
    [
      'processes:\n  a: { command: a, schedule: { interval: 45m } }',
      '2: processes.a.schedule.interval: no cron expression says this: write minutes that divide an hour, hours that divide a day, or cron',
    ],
    [
      'processes:\n  a: { command: a, depends_on: { b: { condition: ready } } }',
      '2: processes.a.depends_on.b.condition: must be process_started, process_healthy, process_log_ready, process_completed_successfully or process_completed, got "ready"',
    ],
    [
      'processes:\n  a: { command: a, depends_on: { a: {} } }',
      '2: spec.dependsOn[0]: Process a depends on itself: remove it',
    ],
    ['processes: [a]', '1: processes: processes must be a map: NAME: { command: ... }'],
  ])('A.4: %j is a mistake with its line and path', async (text, error) => {
    expect((await read(file, text)).errors).toContain(`${file}:${error}`)
  })
})
