import SwaggerParser from "@apidevtools/swagger-parser";

await SwaggerParser.validate(Deno.args[0]!);
