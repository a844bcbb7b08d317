/**
 * The command `dcp` from the sources, for tests that start it as a process of its own.
 */
import { runProcess } from './index.ts'

await runProcess(process)
