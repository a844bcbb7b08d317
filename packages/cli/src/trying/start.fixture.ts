/**
 * The command `evenkeel` from the sources, for tests that need it as a process of its own.
 */
import { runProcess } from '../index.ts'

await runProcess(process)
