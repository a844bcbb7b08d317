/**
 * The kind `Process`: a program that runs on this machine for as long as its object says so.
 *
 * The object lives on over restarts: runs are numbered, and the status has the current one and the last five.
 */
import { defineKind, type ObjectOf, type Stored } from 'evenkeel'

const port = { type: 'integer', minimum: 1, maximum: 65_535 } as const
/** A time in the specs of this package. */
export const seconds = { type: 'number', minimum: 0, maximum: 86_400 } as const

/** The probes that a program may have, as the field of a spec. */
export const probe = {
  type: 'object',
  properties: {
    http: {
      type: 'object',
      properties: {
        path: { type: 'string', default: '/', maxLength: 2048, pattern: '^/' },
        port: {
          type: 'string',
          minLength: 1,
          maxLength: 63,
          description: 'A number, or the name of a port of the process.',
        },
        scheme: { type: 'string', enum: ['http', 'https'], default: 'http' },
        headers: { type: 'object', additionalProperties: { type: 'string', maxLength: 4096 }, maxProperties: 20 },
        insecureSkipTLSVerify: { type: 'boolean', default: false },
      },
      required: ['port'],
    },
    tcp: {
      type: 'object',
      properties: { port: { type: 'string', minLength: 1, maxLength: 63 } },
      required: ['port'],
    },
    exec: {
      type: 'object',
      properties: {
        command: { type: 'array', minItems: 1, maxItems: 1000, items: { type: 'string', maxLength: 100_000 } },
      },
      required: ['command'],
    },
    logLine: {
      type: 'object',
      properties: { contains: { type: 'string', minLength: 1, maxLength: 1000 } },
      required: ['contains'],
    },
    initialDelaySeconds: { ...seconds, default: 0 },
    periodSeconds: { type: 'number', minimum: 0.05, maximum: 86_400, default: 1 },
    timeoutSeconds: { type: 'number', minimum: 0.05, maximum: 86_400, default: 1 },
    successThreshold: { type: 'integer', minimum: 1, maximum: 1000, default: 1 },
    failureThreshold: { type: 'integer', minimum: 1, maximum: 1000, default: 3 },
  },
  'x-kubernetes-validations': [
    {
      rule: '(has(self.http) ? 1 : 0) + (has(self.tcp) ? 1 : 0) + (has(self.exec) ? 1 : 0) + (has(self.logLine) ? 1 : 0) == 1',
      message: 'a probe has exactly one of http, tcp, exec and logLine',
    },
  ],
} as const

const run = {
  type: 'object',
  properties: {
    number: { type: 'integer' },
    pid: { type: 'integer' },
    identity: { type: 'string' },
    startedAt: { type: 'string', format: 'date-time' },
    finishedAt: { type: 'string', format: 'date-time' },
    exitCode: { type: 'integer' },
    signal: { type: 'string' },
    reason: { type: 'string' },
    message: { type: 'string' },
    cause: { type: 'string' },
    logFile: { type: 'string' },
    errorFile: { type: 'string' },
    ports: {
      type: 'array',
      items: { type: 'object', required: ['name', 'port'], properties: { name: { type: 'string' }, port } },
    },
    /** Names only. */
    env: { type: 'array', items: { type: 'string' } },
  },
} as const

/** The kinds that `dependsOn` may name: their rules are in process-dependencies.ts. */
const dependencyKinds = ['Process', 'Task', 'ProcessSet', 'Service', 'Container'] as const

const reference = { type: 'string', minLength: 1, maxLength: 253 } as const
const keyed = {
  type: 'object',
  required: ['name', 'key'],
  properties: { name: reference, key: reference },
} as const

/** Where the value of a variable is: see `env-references.ts`. */
const valueFrom = {
  type: 'object',
  properties: {
    service: {
      type: 'object',
      required: ['name'],
      properties: {
        name: reference,
        field: {
          type: 'string',
          enum: ['url', 'host', 'port', 'address'],
          default: 'url',
          description: 'address is host:port.',
        },
      },
    },
    secret: keyed,
    config: keyed,
  },
  minProperties: 1,
  maxProperties: 1,
} as const

/** A variable that has its value in the spec. */
const variable = {
  name: { type: 'string', minLength: 1, maxLength: 4096, pattern: '^[^=]+$' },
  value: { type: 'string', default: '' },
} as const

/** Variables of a program that cannot have values elsewhere: of a container. */
export const plainEnvField = {
  type: 'array',
  maxItems: 1000,
  items: { type: 'object', required: ['name'], properties: variable },
} as const

/** What a program needs to run: shared by every kind that makes Processes. */
export const programFields = {
  command: { type: 'array', minItems: 1, maxItems: 1000, items: { type: 'string', maxLength: 100_000 } },
  shell: { type: 'string', minLength: 1, maxLength: 100_000 },
  cwd: { type: 'string', maxLength: 4096 },
  env: {
    type: 'array',
    maxItems: 1000,
    items: {
      type: 'object',
      required: ['name'],
      properties: { ...variable, valueFrom },
      'x-kubernetes-validations': [
        {
          rule: "!has(self.valueFrom) || self.value == ''",
          message: 'must be absent with valueFrom',
          fieldPath: '.value',
        },
      ],
    },
  },
  envFiles: {
    type: 'array',
    maxItems: 20,
    items: {
      type: 'object',
      required: ['path'],
      properties: {
        path: { type: 'string', minLength: 1, maxLength: 4096 },
        optional: { type: 'boolean', default: false },
      },
    },
  },
  inheritEnv: { type: 'boolean', default: true },
  ports: {
    type: 'array',
    maxItems: 50,
    items: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', maxLength: 63, pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$' },
        port: { type: 'integer', minimum: 0, maximum: 65_535, default: 0 },
        env: { type: 'string', minLength: 1, maxLength: 4096, pattern: '^[^=]+$' },
      },
    },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
  },
  stop: {
    type: 'object',
    default: {},
    properties: {
      signal: {
        type: 'string',
        enum: ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGKILL'],
        default: 'SIGTERM',
      },
      gracePeriodSeconds: { ...seconds, default: 10 },
    },
  },
  dependsOn: {
    type: 'array',
    maxItems: 50,
    items: {
      type: 'object',
      required: ['name'],
      properties: {
        kind: { type: 'string', enum: dependencyKinds, default: 'Process' },
        name: { type: 'string', minLength: 1, maxLength: 253 },
        until: { type: 'string', enum: ['Started', 'Ready', 'Completed'], default: 'Ready' },
        optional: { type: 'boolean', default: false },
        whenLost: { type: 'string', enum: ['Keep', 'Stop'], default: 'Keep' },
      },
      'x-kubernetes-validations': [
        {
          rule: '!(self.kind in ["ProcessSet", "Service"]) || self.until != "Completed"',
          message: 'a ProcessSet and a Service never complete: write until: Ready, or refer to a Task',
        },
      ],
    },
  },
  log: {
    type: 'object',
    default: {},
    properties: {
      maxBytes: {
        type: 'integer',
        minimum: 65_536,
        default: 52_428_800,
        description: 'Of one run: the oldest lines are released when its log is longer.',
      },
      separateStderr: {
        type: 'boolean',
        default: false,
        description: 'Stderr has a file of its own. Without, both outputs are in one, in their true order.',
      },
    },
  },
  lifetime: { type: 'string', enum: ['Session', 'Persistent'], default: 'Session' },
} as const

/** Files whose changes restart a Process. */
const watchField = {
  type: 'object',
  properties: {
    paths: { type: 'array', minItems: 1, maxItems: 100, items: { type: 'string', minLength: 1, maxLength: 4096 } },
    ignore: { type: 'array', maxItems: 100, items: { type: 'string', minLength: 1, maxLength: 1000 } },
    debounceSeconds: { type: 'number', minimum: 0.01, maximum: 3600, default: 0.2 },
    cascade: {
      type: 'boolean',
      default: false,
      description: 'Processes that depend on this one are restarted as well, when it is ready again.',
    },
  },
  required: ['paths'],
} as const

/** How a Process that ended is started again. */
export const restartField = {
  type: 'object',
  default: {},
  properties: {
    policy: { type: 'string', enum: ['Always', 'OnFailure', 'Never'], default: 'Always' },
    initialSeconds: { ...seconds, default: 0.2 },
    maxSeconds: { ...seconds, default: 30 },
    resetSeconds: { ...seconds, default: 30 },
    limit: { type: 'integer', minimum: 0, maximum: 1_000_000 },
  },
} as const

export const probesField = {
  type: 'object',
  properties: { startup: probe, readiness: probe, liveness: probe },
} as const

export const programRules = [
  {
    rule: 'has(self.command) != has(self.shell)',
    message: 'write either command (a list) or shell (a text for /bin/sh)',
  },
] as const

/** The process of this machine that a Process ends with. */
const ownerField = {
  type: 'object',
  required: ['pid'],
  properties: {
    pid: { type: 'integer', minimum: 1 },
    startTicks: {
      type: 'integer',
      minimum: 0,
      description:
        'When it started: field 22 of /proc/PID/stat. Without, the process that has the pid when the object is first seen.',
    },
  },
} as const

const ownerRules = [
  {
    rule: "(has(self.lifetime) && self.lifetime == 'Owner') == has(self.owner)",
    message: 'lifetime Owner and owner belong together: write both or none of them',
  },
] as const

/** What the program in a terminal cannot have. */
const terminalRules = [
  {
    rule: "!(has(self.terminal) && self.terminal && has(self.lifetime) && self.lifetime == 'Persistent')",
    message: 'a process with a terminal ends with Evenkeel: set lifetime to Session',
  },
  {
    rule: '!(has(self.terminal) && self.terminal && has(self.log) && has(self.log.separateStderr) && self.log.separateStderr)',
    message: 'a terminal shows stdout and stderr as one: set log.separateStderr to false',
  },
] as const

const spec = {
  type: 'object',
  properties: {
    ...programFields,
    running: { type: 'boolean', default: true },
    restart: restartField,
    probes: probesField,
    watch: watchField,
    terminal: { type: 'boolean' },
    lifetime: { ...programFields.lifetime, enum: ['Session', 'Persistent', 'Owner'] },
    owner: ownerField,
  },
  'x-kubernetes-validations': [...programRules, ...terminalRules, ...ownerRules],
} as const

export const Process = defineKind({
  group: 'workloads.evenkeel.dev',
  version: 'v1',
  kind: 'Process',
  shortNames: ['proc'],
  categories: ['app'],
  printerColumns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Run', type: 'integer', jsonPath: '.status.run.number' },
    { name: 'Restarts', type: 'integer', jsonPath: '.status.restarts' },
    { name: 'Pid', type: 'integer', jsonPath: '.status.run.pid' },
    { name: 'Why', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec,
  status: {
    type: 'object',
    properties: {
      phase: { type: 'string' },
      run,
      runs: { type: 'array', items: run },
      restarts: { type: 'integer' },
      nextRestartAt: { type: 'string', format: 'date-time' },
      /** The process that it ends with, as it was first seen. */
      ownerIdentity: { type: 'string' },
      lastProbe: {
        type: 'object',
        properties: { probe: { type: 'string' }, output: { type: 'string' } },
      },
    },
  },
  reports: ['actions', 'dependencies'],
} as const)

export type ProcessObject = Stored<ObjectOf<typeof Process>>
export type ProcessStatus = NonNullable<ProcessObject['status']>
