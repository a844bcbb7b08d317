/**
 * SecureStorages as a module for `evenkeel up`, with a slow cloud that is sometimes unavailable.
 */
import { SystemClock, SystemRandom } from 'evenkeel/unstable/base'
import { CloudInMemory } from './cloud/cloud-in-memory.ts'
import { farAway } from './cloud/far-away.ts'
import { serveCloud } from './cloud/serve-cloud.ts'
import { secureStorages } from './controller.ts'
import { SecureStorage } from './kinds.ts'

const clock = new SystemClock()
const cloud = new CloudInMemory(clock)

export const kinds = [SecureStorage]
export const controllers = [secureStorages(farAway(cloud, { clock, random: new SystemRandom() }))]

export async function serve({ signal }: { signal: AbortSignal }): Promise<{ name: string; url: string }[]> {
  return [{ name: 'Cloud', url: await serveCloud(cloud, { port: Number(process.env['CLOUD_PORT'] ?? 0), signal }) }]
}
