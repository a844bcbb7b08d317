/** The command `evenkeel`, from the sources. */
import { runProcess } from '@evenkeel/cli'

await runProcess(process)
