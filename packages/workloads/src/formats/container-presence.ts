/**
 * Whether containers can run on this machine: for an application that does without some of its containers elsewhere.
 *
 *   const missing = await whyNoContainers()
 *   if (missing !== undefined) console.error(`the cache is left out: ${missing}`)
 */
import { SystemClock } from 'evenkeel/unstable/base'
import { findRuntime } from '../containers/os-runtime.ts'

/**
 * Why no container can run on this machine; undefined when a runtime answers.
 *
 * @example
 * if ((await whyNoContainers()) === undefined) container('cache', { image: 'redis:7-alpine' })
 */
export async function whyNoContainers(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<string | undefined> {
  try {
    await findRuntime({ env, clock: new SystemClock() })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
