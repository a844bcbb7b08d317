/**
 * App and Route: an App runs a command, a Route sends requests to Apps.
 */
import { defineKind } from 'evenkeel'
import type { ObjectOf, Stored } from 'evenkeel'

export const App = defineKind({
  group: 'app.multi.ch',
  version: 'v1',
  kind: 'App',
  printerColumns: [
    { name: 'Running', type: 'boolean', jsonPath: '.spec.running' },
    { name: 'Pid', type: 'integer', jsonPath: '.status.pid' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  ],
  spec: {
    type: 'object',
    required: ['command', 'port'],
    properties: {
      command: { type: 'string', minLength: 1, maxLength: 4096 },
      port: { type: 'integer', minimum: 1, maximum: 65_535 },
      running: { type: 'boolean', default: true },
      config: { type: 'object', additionalProperties: { type: 'string' } },
    },
  },
  status: {
    type: 'object',
    properties: {
      pid: { type: 'integer' },
      // The contract: all that a Route knows about an App.
      routeContract: { type: 'object', properties: { host: { type: 'string' }, port: { type: 'integer' } } },
    },
  },
  reports: ['children', 'actions'],
} as const)

export const Route = defineKind({
  group: 'route.multi.ch',
  version: 'v1',
  kind: 'Route',
  printerColumns: [
    { name: 'Hostnames', type: 'string', jsonPath: '.spec.hostnames' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  ],
  spec: {
    type: 'object',
    required: ['hostnames', 'targetRefs'],
    properties: {
      hostnames: { type: 'array', items: { type: 'string', maxLength: 253 }, maxItems: 50 },
      targetRefs: {
        type: 'array',
        maxItems: 50,
        items: {
          type: 'object',
          required: ['name'],
          properties: {
            apiVersion: { type: 'string' },
            kind: { type: 'string' },
            name: { type: 'string' },
            pathPrefix: { type: 'string', default: '/' },
          },
        },
      },
    },
  },
  status: { type: 'object', properties: { backends: { type: 'array', items: { type: 'string' } } } },
  reports: ['dependencies'],
} as const)

export type AppObject = Stored<ObjectOf<typeof App>>
export type RouteObject = Stored<ObjectOf<typeof Route>>

/** At once by a service in memory, later over a network. */
type Answer<T> = Promise<T> | T

/** The processes behind Apps, identified by the uid of the App. */
export interface Processes {
  /** Ensures that it runs with this command and configuration. */
  ensureRunning(uid: string, command: string, config: Readonly<Record<string, string>>): Answer<RunningProcess>
  /** Succeeds when it does not run. */
  ensureStopped(uid: string): Answer<void>
  getProcess(uid: string): Answer<RunningProcess | undefined>
}

export interface RunningProcess {
  readonly pid: number
  readonly command: string
  readonly config: Readonly<Record<string, string>>
}

/** The router. Each Route has one entry, identified by its uid. */
export interface Router {
  ensureRoutes(uid: string, routes: readonly RouteEntry[]): Answer<void>
  removeRoutes(uid: string): Answer<void>
  listRoutes(): Answer<Readonly<Record<string, readonly RouteEntry[]>>>
}

export interface RouteEntry {
  readonly hostname: string
  readonly pathPrefix: string
  readonly to: string
}
