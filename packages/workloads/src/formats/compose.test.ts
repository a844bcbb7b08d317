/** compose.yaml: what is mapped, what is refused, and that the guide says the same. */
/* eslint-disable no-template-curly-in-string -- variables of the files that are read */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readComposeFile } from './compose.ts'
import { formatFinding } from './finding.ts'

const file = 'compose.yaml'

async function read(text: string, options: object = {}) {
  const { objects, warnings, errors } = await readComposeFile(text, { file, ...options })
  return {
    objects: objects.map(({ object }) => object),
    warnings: warnings.map(formatFinding),
    errors: errors.map(formatFinding),
  }
}

/** The Container of a service `web` with these fields. */
async function specOf(fields: string, options: object = {}) {
  const { objects, warnings, errors } = await read(`services:\n  web:\n    image: web\n    ${fields}\n`, options)
  expect({ warnings, errors }).toEqual({ warnings: [], errors: [] })
  return objects.find(({ kind }) => kind === 'Container')?.spec
}

const base = { image: 'web', networks: [{ name: 'default' }], restart: { policy: 'Never' } }

describe('W32: a compose file', () => {
  test.each([
    ['build: ./web', { ...base, build: { context: './web' } }],
    [
      'build: { context: ., dockerfile: a.Dockerfile, target: dev, args: { A: 1 } }',
      {
        ...base,
        build: { context: '.', dockerfile: 'a.Dockerfile', target: 'dev', args: [{ name: 'A', value: '1' }] },
      },
    ],
    ['command: npm run "the server"', { ...base, args: ['npm', 'run', 'the server'] }],
    ['entrypoint: [/bin/entry]', { ...base, command: ['/bin/entry'] }],
    ['working_dir: /app\n    user: "1000"', { ...base, workingDir: '/app', user: '1000' }],
    [
      'environment: { DEBUG: yes, PORT: 0100, FROM_HERE: , NOT_SET: }',
      {
        ...base,
        env: [
          { name: 'DEBUG', value: 'yes' },
          { name: 'PORT', value: '0100' },
          { name: 'FROM_HERE', value: 'x' },
        ],
      },
    ],
    [
      'env_file: [a.env, { path: b.env, required: false }]',
      { ...base, envFiles: [{ path: 'a.env' }, { path: 'b.env', optional: true }] },
    ],
    [
      'ports: ["8080:80", "127.0.0.1:53:53/udp", "9000", "3000-3001:4000-4001"]',
      {
        ...base,
        ports: [
          { name: 'port-80', containerPort: 80, hostPort: 8080 },
          { name: 'udp-53', containerPort: 53, hostPort: 53, hostIP: '127.0.0.1', protocol: 'UDP' },
          { name: 'port-9000', containerPort: 9000 },
          { name: 'port-4000', containerPort: 4000, hostPort: 3000 },
          { name: 'port-4001', containerPort: 4001, hostPort: 3001 },
        ],
      },
    ],
    [
      'ports: [{ target: 80, published: "8080", protocol: tcp, name: http }]',
      { ...base, ports: [{ name: 'http', containerPort: 80, hostPort: 8080 }] },
    ],
    [
      'volumes: [data:/var/lib/db, ./src:/app:ro, /etc/hosts:/hosts]',
      {
        ...base,
        volumeMounts: [
          { volume: 'data', target: '/var/lib/db' },
          { bind: './src', target: '/app', readOnly: true },
          { bind: '/etc/hosts', target: '/hosts' },
        ],
      },
    ],
    [
      'volumes: [{ type: bind, source: src, target: /app, read_only: true }]',
      { ...base, volumeMounts: [{ bind: './src', target: '/app', readOnly: true }] },
    ],
    ['networks: [front, Back_end]', { ...base, networks: [{ name: 'front' }, { name: 'back-end' }] }],
    ['networks: { front: { aliases: [a] } }', { ...base, networks: [{ name: 'front', aliases: ['a'] }] }],
    [
      'container_name: shop-web\n    pull_policy: always\n    labels: [a=b]',
      { ...base, containerName: 'shop-web', pullPolicy: 'Always', labels: { a: 'b' } },
    ],
    ['depends_on: [db]', { ...base, dependsOn: [{ kind: 'Container', name: 'db', until: 'Started' }] }],
    [
      'depends_on: { db: { condition: service_healthy }, setup: { condition: service_completed_successfully, required: false } }',
      {
        ...base,
        dependsOn: [
          { kind: 'Container', name: 'db', until: 'Ready' },
          { kind: 'Container', name: 'setup', until: 'Completed', optional: true },
        ],
      },
    ],
    [
      'healthcheck: { test: [CMD-SHELL, pg_isready], interval: 1m30s, retries: 5, start_period: 500ms }',
      {
        ...base,
        probes: {
          readiness: {
            exec: { command: ['/bin/sh', '-c', 'pg_isready'] },
            periodSeconds: 90,
            timeoutSeconds: 30,
            initialDelaySeconds: 0.5,
            failureThreshold: 5,
          },
        },
      },
    ],
    ['healthcheck: { test: [NONE] }', base],
    ['restart: unless-stopped', { ...base, restart: { policy: 'Always' } }],
    ['restart: on-failure:3', { ...base, restart: { policy: 'OnFailure', limit: 3 } }],
    ['stop_signal: QUIT\n    stop_grace_period: 1m', { ...base, stop: { signal: 'SIGQUIT', gracePeriodSeconds: 60 } }],
  ])('maps %s', async (fields, spec) => {
    expect(await specOf(fields, { env: { FROM_HERE: 'x' } })).toEqual(spec)
  })

  test('has volumes, networks and one default network; anchors are resolved; x- is a place for them', async () => {
    const text = `name: shop
x-base: &base { restart: always, environment: { A: "1" } }
services:
  web: { <<: *base, image: web, environment: { B: "2" } }
  db: { image: db, networks: [back] }
volumes: { data: , old: { external: true } }
networks: { back: { driver: bridge, internal: true }, other: { external: true, name: theirs } }
`
    const { objects, ...rest } = await read(text)
    expect(rest).toEqual({ warnings: [], errors: [] })
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'ContainerVolume data',
      'ContainerVolume old',
      'ContainerNetwork back',
      'ContainerNetwork other',
      'ContainerNetwork default',
      'Container web',
      'Container db',
    ])
    expect(objects.slice(1, 4).map(({ spec }) => spec)).toEqual([
      { volumeName: 'old' },
      { internal: true },
      { networkName: 'theirs', existing: true },
    ])
    expect(objects[5]?.spec).toMatchObject({ restart: { policy: 'Always' }, env: [{ name: 'B', value: '2' }] })
  })

  test('paths begin at the folder of the file', async () => {
    const fields = 'build: web\n    env_file: a.env\n    volumes: [./src:/app, /x:/y]'
    expect(await specOf(fields, { folder: 'deploy' })).toMatchObject({
      build: { context: 'deploy/web' },
      envFiles: [{ path: 'deploy/a.env' }],
      volumeMounts: [{ bind: './deploy/src' }, { bind: '/x' }],
    })
  })

  test.each([
    ['$A-${A}', 'x-x'],
    ['${A:-b}${EMPTY:-b}${EMPTY-b}${NO-b}', 'xbb'],
    ['${A:+b}${EMPTY:+b}${EMPTY+b}${NO+b}', 'bb'],
    ['${NO:-${A}!}', 'x!'],
    ['$$A $5 ${1}', '$A $5 ${1}'],
  ])('W30: %s is %s', async (written, expected) => {
    const text = `services: { web: { image: ${JSON.stringify(written)} } }`
    const { objects, warnings } = await read(text, { env: { A: 'x', EMPTY: '' } })
    expect(objects.find(({ kind }) => kind === 'Container')?.spec?.['image']).toBe(expected)
    expect(warnings).toEqual([])
  })

  test('W30: a variable that is not set is named; one that is required is a mistake', async () => {
    const { warnings, errors } = await read(
      'services:\n  web:\n    image: web:${TAG}\n    user: ${USER_ID:?the id of a user}\n',
    )
    expect(warnings).toEqual([
      'compose.yaml:3: services.web.image: the variable TAG is not set: nothing stands in its place. Set it, or write $$ for a dollar sign',
    ])
    expect(errors).toEqual(['compose.yaml:4: services.web.user: the variable USER_ID is required: the id of a user'])
  })

  test('a service with a profile takes part only when that is chosen', async () => {
    const text = 'services:\n  web: { image: web }\n  debug: { image: debug, profiles: [tools] }\n'
    const namesOf = async (options: object) =>
      (await read(text, options)).objects.flatMap(({ kind, metadata }) => (kind === 'Container' ? [metadata.name] : []))
    expect(await namesOf({})).toEqual(['web'])
    expect(await namesOf({ env: { COMPOSE_PROFILES: 'other,tools' } })).toEqual(['web', 'debug'])
    expect((await read(text)).warnings).toEqual([
      'compose.yaml:3: services.debug: is left out: COMPOSE_PROFILES=tools includes it',
    ])
  })

  test.each([
    [
      'include: [a.yaml]\nservices: {}',
      '1: include: not supported: name the files instead, evenkeel run compose.yaml other/compose.yaml',
    ],
    [
      'services:\n  web: { image: a, extends: { service: b } }',
      '2: services.web.extends: not supported: write the fields of the other service here, or share them with an anchor (x-base: &base, <<: *base)',
    ],
    [
      'services:\n  web: { image: a, ports: ["http:80"] }',
      '2: services.web.ports[0]: must be CONTAINER, HOST:CONTAINER or IP:HOST:CONTAINER with ports from 1 to 65535, got "http:80"',
    ],
    [
      'services:\n  web: { image: a, ports: ["70000:80"] }',
      '2: services.web.ports[0]: must be CONTAINER, HOST:CONTAINER or IP:HOST:CONTAINER with ports from 1 to 65535, got "70000:80"',
    ],
    [
      'services:\n  web: { image: a, ports: [{ target: -1 }] }',
      '2: services.web.ports[0].target: must be a whole number from 1 to 65535, got "-1"',
    ],
    ['services:\n  web: { }', '2: services.web: has neither image nor build: write image: NAME'],
    [
      'services:\n  web: { image: a, command: "sh -c \'x" }',
      "2: services.web.command: has a quote that is not closed: sh -c 'x",
    ],
    [
      'services:\n  web: { image: a, command: [] }',
      '2: services.web.command: is empty: write a program and its arguments, [node, server.js]',
    ],
    [
      'services:\n  web: { image: a, stop_signal: SIGFOO }',
      '2: services.web.stop_signal: must be one of SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGKILL, got SIGFOO',
    ],
    [
      'services:\n  web: { image: a, stop_grace_period: -1 }',
      '2: services.web.stop_grace_period: must be a duration such as 10s or 1m30s, got "-1"',
    ],
    [
      'services:\n  web: { image: a, volumes: ["~/x:/x"] }',
      '2: services.web.volumes[0]: ~ is not supported: write $HOME',
    ],
    [
      'services:\n  web:\n\timage: a',
      '3: a tab stands at the beginning of the line: YAML is indented with spaces, replace the tab by two',
    ],
  ])('A.4: %j is a mistake with its line and path', async (text, error) => {
    const { errors } = await read(text)
    if (error === undefined) expect(errors).toEqual([])
    else expect(errors).toContain(`${file}:${error}`)
  })

  test.runIf(process.platform !== 'win32')('A.4: a path of Windows is a mistake elsewhere', async () => {
    const { errors } = await read('services:\n  web: { image: a, volumes: ["C:\\\\app:/app"] }')
    expect(errors).toEqual([
      'compose.yaml:2: services.web.volumes[0]: "C:\\\\app:/app" is a path of Windows: write it with slashes, relative to the project',
    ])
  })

  test('everything else is named with its line, in one list', async () => {
    const text = `services:
  web:
    image: a
    hostname: b
    healthcheck: { test: x, start_interval: 1s }
    ports: [{ target: 80, app_protocol: http }]
    develop: { watch: [{ action: sync, path: a, target: b }] }
    networks: { front: { priority: 1 } }
    volumes: [/cache]
odd: true
`
    expect((await read(text)).warnings).toEqual([
      'compose.yaml:4: services.web.hostname: not supported; it is ignored',
      'compose.yaml:5: services.web.healthcheck.start_interval: not supported; it is ignored',
      'compose.yaml:6: services.web.ports[0].app_protocol: not supported; it is ignored',
      'compose.yaml:7: services.web.develop: not supported; it is ignored',
      'compose.yaml:8: services.web.networks.front.priority: not supported; it is ignored',
      'compose.yaml:9: services.web.volumes[0]: a volume without a name is not supported; its files are in the container. Write NAME:/path to keep them',
      'compose.yaml:10: odd: not supported; it is ignored',
    ])
  })

  test('a bomb of aliases ends with an answer', async () => {
    const levels = Array.from({ length: 30 }, (_, index) => `a${index + 1}: &a${index + 1} [*a${index}, *a${index}]`)
    const { errors } = await read(`a0: &a0 [x]\n${levels.join('\n')}\nservices: { web: { image: a, command: *a30 } }`)
    expect(errors.length).toBeGreaterThan(0)
  })
})

/** Every field of a service in the specification, with a value. */
const samples: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    'annotations attach blkio_config cap_add cap_drop cgroup cgroup_parent configs cpu_count cpu_percent cpu_period cpu_quota cpu_rt_period cpu_rt_runtime cpu_shares cpus cpuset credential_spec deploy device_cgroup_rules devices dns dns_opt dns_search domainname driver_opts extends external_links extra_hosts gpus group_add hostname init ipc isolation label_file links logging mac_address mem_limit mem_reservation mem_swappiness memswap_limit models network_mode oom_kill_disable oom_score_adj pid pids_limit platform post_start pre_stop privileged provider read_only runtime scale secrets security_opt shm_size stdin_open storage_opt sysctls tmpfs tty ulimits use_api_socket userns_mode uts volumes_from'
      .split(' ')
      .map((name) => [name, '"1"']),
  ),
  build: '.',
  command: 'a',
  depends_on: '[db]',
  container_name: 'web-1',
  develop: '{ watch: [{ action: restart, path: a }] }',
  labels: '[a=b]',
  pull_policy: 'always',
  entrypoint: 'a',
  env_file: 'a',
  environment: '{ A: "1" }',
  expose: '["80"]',
  healthcheck: '{ test: a }',
  networks: '[a]',
  ports: '["80"]',
  profiles: '[on]',
  restart: 'always',
  stop_grace_period: '1s',
  stop_signal: 'SIGINT',
  user: 'a',
  volumes: '[data:/a]',
  working_dir: '/a',
}

/** The first cells of the rows below a heading of the guide. */
function listed(heading: string): readonly string[] {
  const guide = readFileSync(new URL('../../../../docs/guides/coming-from-compose.md', import.meta.url), 'utf8')
  const part = guide.split(`\n### ${heading}\n`)[1]?.split('\n#')[0] ?? ''
  return [...part.matchAll(/^\| (`[^|]*`) \|/gm)]
    .flatMap(([, cell = '']) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name))
    .toSorted()
}

test('W32: the guide lists the fields of a service that are mapped, and those that are refused', async () => {
  const result: Record<'mapped' | 'refused' | 'named', string[]> = { mapped: ['image'], refused: [], named: [] }
  for (const [name, value] of Object.entries(samples)) {
    const { warnings, errors } = await read(`services: { web: { image: a, ${name}: ${value} } }`, {
      env: { COMPOSE_PROFILES: 'on' },
    })
    result[errors.length > 0 ? 'refused' : warnings.length > 0 ? 'named' : 'mapped'].push(name)
  }
  expect(listed('Mapped')).toEqual(result.mapped.toSorted())
  expect(listed('Refused')).toEqual(result.refused.toSorted())
  expect(result.named.length).toBeGreaterThan(30)
})
