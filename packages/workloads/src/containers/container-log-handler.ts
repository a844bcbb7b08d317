/**
 * The `log` subresource of Containers: what the runtime has of the last container of the object.
 *
 * The runtime keeps one log for a container, in which stdout and stderr are in their order; earlier runs are gone with their
 * containers. What it cannot give is refused before the first byte.
 */
import { ApiError } from 'evenkeel'
import type { LogOptions, StreamHandler } from 'evenkeel/server'
import type { Clock } from 'evenkeel/unstable/base'
import { firstBytes } from '../logs/first-bytes.ts'
import type { ContainerObject } from './container-kind.ts'
import type { ContainerLogOptions } from './container-log.ts'

interface ContainerLogServices {
  log(object: ContainerObject, options: ContainerLogOptions): AsyncIterable<Uint8Array>
  readonly clock: Clock
}

export function containerLogHandler({ log, clock }: ContainerLogServices): StreamHandler {
  return async ({ object, query, signal }) => {
    // The server is loaded when there is one.
    const { readLogOptions } = await import('evenkeel/server')
    const options = readLogOptions(query, { sources: ['all'] })
    const container = object as unknown as ContainerObject
    refuse(container, options)
    const since = sinceOf(options, clock)
    const body = log(container, {
      signal,
      follow: options.follow,
      timestamps: options.timestamps,
      ...(options.tailLines !== undefined && { tailLines: options.tailLines }),
      ...(since !== undefined && { since }),
    })
    return {
      headers: { 'content-type': 'text/plain' },
      body: options.limitBytes === undefined ? body : firstBytes(body, options.limitBytes),
    }
  }
}

function refuse({ metadata, status }: ContainerObject, { previous, run }: LogOptions): void {
  const last = status?.run?.number
  if (!previous && (run === undefined || run === last)) return
  throw new ApiError(
    'BadRequest',
    `Container ${metadata.name} has a log of its last run only${last === undefined ? '' : ` (${last})`}: containers of earlier runs are removed`,
  )
}

function sinceOf({ sinceTimeMs, sinceSeconds }: LogOptions, clock: Clock): number | undefined {
  return sinceTimeMs ?? (sinceSeconds === undefined ? undefined : clock.now() - sinceSeconds * 1000)
}
