/**
 * Measures one sync and prints one line of JSON.
 */
// @ts-check
import { setTimeout as pause } from 'node:timers/promises'

/**
 * Runs the sync, which returns the number of objects.
 *
 * @param {() => Promise<number>} sync
 */
export async function measureSync(sync) {
  globalThis.gc?.()
  const [before, cpu, startedAt] = [process.memoryUsage.rss(), process.cpuUsage(), performance.now()]
  const objects = await sync()
  const ms = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpu)
  await pause(500)
  const rssBytes = process.memoryUsage.rss()
  globalThis.gc?.()
  await pause(500)
  globalThis.gc?.()
  const collected = process.memoryUsage.rss()
  process.stdout.write(
    `${JSON.stringify({ objects, ms, cpuMs: (user + system) / 1000, rssBytes, collectedBytes: collected, grownBytes: collected - before, peakBytes: process.resourceUsage().maxRSS * 1024 })}\n`,
  )
}
