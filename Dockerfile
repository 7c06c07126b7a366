FROM denoland/deno:2.9.6

WORKDIR /app

# Install packages first: they change less often than the code.
COPY deno.json deno.lock ./
COPY tests/assert tests/assert
RUN deno install --frozen

COPY main.ts ./
COPY db db
COPY features features
COPY middleware middleware
COPY routes routes
COPY schema schema
COPY sql sql
RUN deno cache main.ts db/commands/cli.ts \
  && mkdir /data \
  && chown deno:deno /data

# The folder of the embedded database, which serves without DATABASE_URL.
ENV DATA_DIR=/data HOST=0.0.0.0
VOLUME /data

# All other files belong to root, so the service cannot change its own code.
USER deno
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s \
  CMD OTEL_DENO=false deno eval 'const { ok } = await fetch(`http://127.0.0.1:${Deno.env.get("PORT") ?? 8000}/health/ready`); Deno.exit(ok ? 0 : 1)'
CMD ["deno", "task", "--quiet", "serve"]
