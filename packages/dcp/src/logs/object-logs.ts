/**
 * The `log` subresource of Executables, programs in containers, and containers.
 *
 *   request ──▶ query, object: may it be read at all? ──no──▶ 400 or 404, a Status
 *                 └─▶ is there a log already? ──no──▶ with follow: wait for the object to change, else an empty answer
 *                       └─▶ stream: a file, or what the container runtime keeps
 *
 * A log that is followed ends a moment after its object has ended or is gone.
 */
import { join } from 'node:path'
import type { TimedLog } from '@evenkeel/workloads'
import { ApiError, type KubeObject } from 'evenkeel'
import { FollowedObject, type HandlerResponse, type StreamHandler, type StreamRequest } from 'evenkeel/server'
import type { Clock, Logger } from 'evenkeel/unstable/base'
import { readContainerLog, type ContainerLogs } from './container-log.ts'
import { readLogFile, readTimedLog, type FollowOptions } from './file-log.ts'
import { selectLines, type LogBytes } from './log-lines.ts'
import { readLogQuery, type LogQuery, type LogSource } from './log-query.ts'
import { textOf, valuesOf } from '../rules/field-values.ts'

interface ObjectLogServices {
  readonly clock: Clock
  readonly log: Logger
  /** Where the log of what happened to an object is, as `resource-KIND-UID.log`. */
  readonly folder: string
  readonly containers: ContainerLogs
  /** Opens the log of a program that runs here, as it was written; undefined for other files. @default none runs here */
  readonly openProgramLog?: ((path: string) => Promise<TimedLog | undefined>) | undefined
}

/** Where a log is: in a file, with the runtime of a container, not there yet, or never. */
type LogPlace =
  | { readonly file: string }
  | { readonly containerId: string; readonly source: 'stdout' | 'stderr' }
  | 'later'
  | 'never'

/** How the objects of a kind are logged. */
interface KindLogs {
  /** @throws {ApiError} when the log of an object cannot be read. */
  check(object: KubeObject, source: LogSource): void
  find(object: KubeObject, source: LogSource): LogPlace
  isOver(object: KubeObject, source: LogSource): boolean
}

/** The handlers of `log`, by kind. */
export function logHandlers(services: ObjectLogServices): Readonly<Record<string, StreamHandler>> {
  const handler =
    (logs: KindLogs): StreamHandler =>
    (request) =>
      serveLog(request, logs, services)
  return {
    Executable: handler(processLogs(services, 'executable')),
    ContainerExec: handler(processLogs(services, 'containerexec')),
    Container: handler(containerLogs(services)),
  }
}

function serveLog(request: StreamRequest, logs: KindLogs, services: ObjectLogServices): HandlerResponse {
  const query = readLogQuery(request.query)
  if (request.object.metadata.deletionTimestamp !== undefined)
    throw new ApiError('BadRequest', `${request.object.kind} ${request.object.metadata.name} is being deleted`)
  logs.check(request.object, query.source)
  return {
    headers: { 'content-type': 'text/plain' },
    body: selectLines(storedLog(request, query, { logs, services }), query),
  }
}

interface LogParts {
  readonly logs: KindLogs
  readonly services: ObjectLogServices
}

async function* storedLog(request: StreamRequest, query: LogQuery, { logs, services }: LogParts): LogBytes {
  const { source, follow } = query
  const { signal } = request
  const { clock } = services
  const object = follow ? followedObject(request, services) : undefined
  const find = (found: KubeObject): LogPlace => logs.find(found, source)
  const place = object ? await object.until(find, (found) => found !== 'later') : find(request.object)
  if (typeof place === 'string') return
  const isOver = (): boolean => object === undefined || object.isGone || logs.isOver(object.newest, source)
  const options: FollowOptions = { clock, signal, follow: !isOver(), isOver }
  if ('file' in place) {
    const timed = source === 'system' ? undefined : await services.openProgramLog?.(place.file)
    yield* timed ? readTimedLog(timed, options) : readLogFile(place.file, options)
    return
  }
  yield* readContainerLog(services.containers, place.containerId, {
    ...options,
    source: place.source,
    marksNow: query.tail !== undefined,
  })
}

function followedObject(request: StreamRequest, { log }: ObjectLogServices): FollowedObject {
  return new FollowedObject(request, {
    onFailure: (error) => {
      log.error('cannot follow object with open log', { object: request.object.metadata.name, error })
    },
  })
}

function systemLog({ folder }: ObjectLogServices, kind: string, object: KubeObject): LogPlace {
  return { file: join(folder, `resource-${kind}-${object.metadata.uid}.log`) }
}

function fileOf(path: string): LogPlace {
  return path === '' ? 'later' : { file: path }
}

/** Programs: the controller that runs one says in the status which files its output goes to. */
function processLogs(services: ObjectLogServices, kind: string): KindLogs {
  return {
    check(object, source) {
      if (valuesOf(valuesOf(object, 'spec'), 'terminal') && source !== 'system')
        throw new ApiError(
          'BadRequest',
          `${object.kind} ${object.metadata.name} has a terminal, and so no ${source}: connect to its terminal`,
        )
    },
    find(object, source) {
      const status = valuesOf(object, 'status')
      if (source === 'stdout') return fileOf(textOf(status, 'stdOutFile'))
      if (source === 'stderr') return fileOf(textOf(status, 'stdErrFile'))
      return source === 'system' ? systemLog(services, kind, object) : 'never'
    },
    isOver: (object) => textOf(valuesOf(object, 'status'), 'finishTimestamp') !== '',
  }
}

const notStarted: ReadonlySet<string> = new Set(['', 'Pending', 'RuntimeUnhealthy'])
const starting: ReadonlySet<string> = new Set(['Building', 'Starting'])
const ended: ReadonlySet<string> = new Set(['FailedToStart', 'Exited', 'Unknown'])

/** Containers: their runtime has the output; the output of build and start is in files. */
function containerLogs(services: ObjectLogServices): KindLogs {
  const stateOf = (object: KubeObject): string => textOf(valuesOf(object, 'status'), 'state')
  return {
    check(object) {
      if (stateOf(object) === 'Unknown')
        throw new ApiError('BadRequest', `Container ${object.metadata.name} is in state Unknown: it has no log`)
    },
    find(object, source) {
      const [state, status] = [stateOf(object), valuesOf(object, 'status')]
      if (notStarted.has(state)) return 'later'
      if (source === 'system') return systemLog(services, 'container', object)
      if (source === 'startup_stdout' || source === 'startup_stderr') {
        const path = textOf(status, source === 'startup_stdout' ? 'startupStdOutFile' : 'startupStdErrFile')
        return path === '' && !starting.has(state) ? 'never' : fileOf(path)
      }
      const containerId = textOf(status, 'containerId')
      return containerId === '' || state === 'Starting' ? 'later' : { containerId, source }
    },
    isOver(object, source) {
      const state = stateOf(object)
      return ended.has(state) || (source.startsWith('startup_') && !starting.has(state))
    },
  }
}
