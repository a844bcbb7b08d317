/**
 * The peer in Go: client-go's dynamic informer, built from `client-go/` if Go is installed.
 */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const source = fileURLToPath(new URL('./client-go', import.meta.url))

/** The program, or why it is missing. */
export type BuiltPeer = { readonly program: string } | { readonly missing: string }

export async function buildClientGo(folder: string): Promise<BuiltPeer> {
  const program = path.join(folder, 'client-go')
  try {
    await promisify(execFile)('go', ['build', '-o', program, '.'], { cwd: source })
    return { program }
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string }
    if (code === 'ENOENT') return { missing: 'client-go is not here: there is no Go' }
    return { missing: `client-go is not here: ${stderr.trim().split('\n')[0] ?? 'it cannot be built'}` }
  }
}
