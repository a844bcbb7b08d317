/**
 * The version of this package. The file is at the same depth as the built one, so that both find package.json.
 */
import { readFile } from 'node:fs/promises'

export async function readVersion(): Promise<string> {
  const text = await readFile(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
