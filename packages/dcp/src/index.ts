/**
 * `@evenkeel/dcp`: runs an application, with the kinds, rules, controllers, logs and commands of dcp.
 */
import { runCommand } from './commands.ts'
import { UsageError } from './usage-error.ts'

export { Container, ContainerExec, ContainerVolume } from './kinds/container.ts'
export { Executable, ExecutableReplicaSet } from './kinds/executable.ts'
export {
  ContainerNetwork,
  ContainerNetworkConnection,
  ContainerNetworkTunnelProxy,
  Endpoint,
  Service,
} from './kinds/network.ts'
export { startDcpServer, type DcpServer, type DcpServerOptions } from './server.ts'

/** Runs the command `dcp` in this process; sets its exit code. */
export async function runProcess(host: NodeJS.Process): Promise<void> {
  const ending = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    host.once(name, () => {
      ending.abort(new Error(`${name} was received`))
    })
  try {
    host.exitCode = await runCommand(host.argv.slice(2), {
      env: host.env,
      stdout: host.stdout,
      stderr: host.stderr,
      self: [host.execPath, ...host.execArgv, host.argv[1] ?? ''],
      signal: ending.signal,
    })
  } catch (error) {
    host.exitCode = 1
    host.stderr.write(error instanceof UsageError ? `dcp: ${error.message}\n` : `dcp: ${(error as Error).stack}\n`)
  }
}
