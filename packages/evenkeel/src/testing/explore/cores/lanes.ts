/**
 * Who runs the schedules: this process alone, or as many processes as there are cores.
 *
 * Functions cannot be sent to another process, so the others import the module that the program and the scenario come
 * from. Without a module, or where no process can be started, everything runs here, and why is said.
 */
import { availableParallelism } from 'node:os'
import type { ScheduleRunner, Session, SessionOptions } from '../session.ts'
import { WorkerPool } from './pool.ts'

interface WorkersOptions {
  readonly module?: string | URL | undefined
  readonly cores?: number | undefined
  readonly session: SessionOptions
  /** There is enough to do. */
  readonly isWorth: boolean
}

interface Workers {
  readonly runner: ScheduleRunner
  /** Why there is one only, if more were wished for. */
  readonly why?: string
  close(): Promise<void>
}

export async function openWorkers(
  here: Session,
  { module, cores, session, isWorth }: WorkersOptions,
): Promise<Workers> {
  const alone = (why?: string): Workers => ({
    runner: here,
    ...(why !== undefined && { why }),
    close: () => Promise.resolve(),
  })
  if (!isWorth || cores === 1) return alone()
  if (module === undefined)
    return alone(
      cores === undefined
        ? undefined
        : 'the program was given as functions, which cannot be sent to other processes: name its module',
    )
  const count = cores ?? availableParallelism()
  if (count === 1) return alone()
  try {
    const pool = await WorkerPool.open({ module: String(module), session, hash: here.first.trace.hash, count })
    return { runner: pool, close: () => pool.close() }
  } catch (error) {
    return alone(`other processes could not be started: ${error instanceof Error ? error.message : String(error)}`)
  }
}
