package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/gin-gonic/gin"
	"github.com/uptrace/bun"
)

// hero is a row of the heroes table and the answer's JSON.
type hero struct {
	bun.BaseModel `bun:"table:heroes" json:"-"`

	ID               int32  `bun:",pk" json:"id"`
	Name             string `json:"name"`
	Race             string `json:"race"`
	HeroClass        string `json:"hero_class"`
	Alignment        string `json:"alignment"`
	SavingThrows     string `json:"saving_throws"`
	Skills           string `json:"skills"`
	Languages        string `json:"languages"`
	Features         string `json:"features"`
	Equipment        string `json:"equipment"`
	Background       string `json:"background"`
	Damage           string `json:"damage"`
	DateOfBirth      string `bun:"type:date" json:"date_of_birth"`
	HitPoints        int32  `json:"hit_points"`
	Level            int64  `json:"level"`
	Strength         int32  `json:"strength"`
	Dexterity        int32  `json:"dexterity"`
	Constitution     int32  `json:"constitution"`
	Intelligence     int32  `json:"intelligence"`
	Wisdom           int32  `json:"wisdom"`
	Charisma         int32  `json:"charisma"`
	ArmorClass       int32  `json:"armor_class"`
	Speed            int32  `json:"speed"`
	Initiative       int32  `json:"initiative"`
	ProficiencyBonus int32  `json:"proficiency_bonus"`
	Attack           int32  `json:"attack"`
}

// heroController answers for /heroes/{id}.
type heroController struct {
	heroes *bun.DB
	// answered stands in for the level, so that no two answers are equal; it is never written back.
	answered atomic.Int64
}

func (c *heroController) get(ctx *gin.Context) {
	id, err := strconv.ParseInt(ctx.Param("id"), 10, 32)
	if err != nil {
		problem(ctx, http.StatusBadRequest)
		return
	}
	var found hero
	err = c.heroes.NewSelect().Model(&found).Where("id = ?", id).Scan(ctx.Request.Context())
	switch {
	case errors.Is(err, sql.ErrNoRows):
		problem(ctx, http.StatusNotFound)
	case err != nil:
		ctx.Error(err)
		problem(ctx, http.StatusInternalServerError)
	default:
		found.Level = c.answered.Add(1)
		ctx.JSON(http.StatusOK, found)
	}
}

// problem answers with a problem detail (RFC 9457).
func problem(ctx *gin.Context, status int) {
	detail, _ := json.Marshal(gin.H{
		"type": "about:blank", "title": http.StatusText(status), "status": status, "instance": ctx.Request.URL.Path,
	})
	ctx.Data(status, "application/problem+json", detail)
}
